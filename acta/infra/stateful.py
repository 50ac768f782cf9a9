"""The two stacks with the data, which every release keeps."""

from collections.abc import Mapping

from aws_cdk import SecretValue, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from acta.engine.models.providers import NO_KEY_YET
from acta.infra.api.issuers import OwnPool
from acta.infra.api.user_pool import UserPool
from acta.infra.data_stores import audit_trail, data_bucket, data_secret, data_table, place
from acta.infra.environments import Environment, Webhook
from acta.infra.names import (
    LIVE_INDEX,
    NOTIFICATIONS,
    OPEN_INDEX,
    URL_KEY,
    key_secrets,
    secret_name,
    sessions_stack,
    stateful_stack,
)
from acta.infra.options import WrittenFiles


class StatefulStack(Stack):
    """The table, the bucket of the files, the secrets and Acta's user pool.

    `secrets`: model provider -> the secret with its key, if this stack makes it. `user_pool`: None with another issuer.
    """

    def __init__(self, scope: Construct, environment: Environment) -> None:
        super().__init__(
            scope,
            stateful_stack(environment.name),
            env=place(environment),
            termination_protection=environment.deletion_protection,
            description=f"Acta ({environment.name}): sessions, files, keys and users",
        )
        self._environment = environment
        self.table = self._table()
        # Exported even where nothing uses it. So switching notifications on or off changes the other stack only.
        self.stream_arn = self.export_value(self.table.table_stream_arn)
        self.bucket = data_bucket(
            self,
            "Files",
            environment,
            versioned=environment.versioned_files,
            tells=any(isinstance(each, WrittenFiles) for each in environment.event_sources.values()),
        )
        self.secrets = {} if environment.is_local else self._secrets()
        self.url_secret = None if environment.is_local else self._url_secret()
        if isinstance(environment.notifications, Webhook):
            self._notification_secret()
        auth = environment.auth
        self.user_pool = UserPool(self, environment, auth) if isinstance(auth, OwnPool) else None

    def _table(self) -> dynamodb.Table:
        table = data_table(self, "Table", self._environment, stream=dynamodb.StreamViewType.KEYS_ONLY)
        # Sparse: only sessions that have work to do or wait for someone have the attribute `live`. Recovery reads them
        # by time, and the keys alone say whose session it is (acta/engine/store/table_layout.py).
        table.add_global_secondary_index(
            index_name=LIVE_INDEX,
            partition_key=dynamodb.Attribute(name="live", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="live_at", type=dynamodb.AttributeType.STRING),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )
        # Sparse, too: it lists what one tenant has open, and its partition key begins with the tenant's name (ADR 107).
        table.add_global_secondary_index(
            index_name=OPEN_INDEX,
            partition_key=dynamodb.Attribute(name="op", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )
        return table

    def _secrets(self) -> Mapping[str, secretsmanager.ISecret]:
        """Empty secrets for the model providers' keys. A person stores the keys; no template contains one."""
        return {
            provider: data_secret(
                self,
                f"{provider.capitalize()}Key",
                self._environment,
                secret_name=name,
                description=f"API key of {provider}, read by the step Lambda only",
                secret_string_value=SecretValue.unsafe_plain_text(NO_KEY_YET),
            )
            for provider, name in key_secrets(self._environment.name, self._environment.providers).items()
            if name == secret_name(self._environment.name, provider)  # the others are there already
        }

    def _url_secret(self) -> secretsmanager.Secret:
        """AWS generates the value. An operator may put a new one before it, and later remove the old one."""
        return data_secret(
            self,
            "UrlKey",
            self._environment,
            secret_name=secret_name(self._environment.name, URL_KEY),
            description="What URLs for programs without a token are signed with",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=64, exclude_punctuation=True
            ),
        )

    def _notification_secret(self) -> None:
        """AWS generates the value. A person gives it to the receiver of the notifications, or stores another one."""
        data_secret(
            self,
            "NotificationKey",
            self._environment,
            secret_name=secret_name(self._environment.name, NOTIFICATIONS),
            description="What notifications are signed with, read by the notify Lambda only",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=48, exclude_punctuation=True
            ),
        )


class SessionsStack(Stack):
    """The bucket of sessions' texts and the audit trail. The bucket keeps no versions: what is deleted there is gone at
    once (ADR 44). Of the trail nothing is ever deleted (ADR 54).

    It is a separate stack because the previous release does not know of it. That release can be deployed again over
    this one: its own two stacks are as they were, and this stack stays, with its contents.
    """

    def __init__(self, scope: Construct, environment: Environment) -> None:
        super().__init__(
            scope,
            sessions_stack(environment.name),
            env=place(environment),
            termination_protection=environment.deletion_protection,
            description=f"Acta ({environment.name}): texts of sessions, audit trail",
        )
        self.bucket = data_bucket(self, "Texts", environment, versioned=False)
        self.audit = audit_trail(self, environment)
