"""Sends notifications to an SNS topic. SNS signs them, delivers them and repeats what was not delivered."""

from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import AwsRefused
from shared.domain.errors import AwsDenied, StoreThrottled, StoreUnavailable
from shared.domain.notifications.notification import Notification, QuestionNotification
from shared.ports.notifier import NotDelivered


class Topic:
    """A Notifier. Subscriptions can filter by the attributes `event` and `tenant`, and those to interventions
    by `type`, too."""

    def __init__(self, arn: str, client: Any = None) -> None:
        self._arn = arn
        self._sns = Service("sns", client)

    def send(self, notification: Notification) -> None:
        attributes = {"event": notification.event, "tenant": notification.tenant}
        if isinstance(notification, QuestionNotification):
            attributes["type"] = notification.type
        try:
            self._sns.call(
                "publish",
                TopicArn=self._arn,
                Message=notification.to_body().decode(),
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
                },
            )
        except (StoreThrottled, StoreUnavailable, AwsDenied) as failed:
            raise NotDelivered(type(failed).__name__) from None
        except AwsRefused as refused:
            raise NotDelivered(refused.code) from None
