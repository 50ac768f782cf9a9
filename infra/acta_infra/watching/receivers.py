"""Who is told of alarms and of the budget: one topic, and what subscribes to it (`Environment.watch`)."""

from collections.abc import Mapping
from types import MappingProxyType

from aws_cdk import ArnFormat, CfnOutput, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from acta_infra.environments import Environment
from acta_infra.options import MonthlyBudget, SlackChannel

READS_METRICS = "CloudWatchReadOnlyAccess"
"""What people may ask AWS for in the Slack channel, at most. Without it the channel might do everything."""


class Receivers(Construct):
    """`self.topic`. Output `AlarmsTopicArn`: whatever else is to be told subscribes to it."""

    def __init__(self, scope: Construct, environment: Environment) -> None:
        super().__init__(scope, "Alarms")
        watch = environment.watch
        # Not encrypted with the AWS managed key for SNS: CloudWatch is not allowed to use that key.
        self.topic = sns.Topic(
            self, "Topic", enforce_ssl=True, display_name=f"Acta {environment.name}: alarms"
        )
        self._take_what_cloudwatch_says(environment.name)
        for address in watch.emails:
            self.topic.add_subscription(subscriptions.EmailSubscription(address))
        for url in watch.webhooks:
            self.topic.add_subscription(subscriptions.UrlSubscription(url))
        if watch.slack is not None:
            self._tell_slack(environment.name, watch.slack)
        if watch.budget is not None:
            self._watch_the_bill(environment.name, watch.budget)
        CfnOutput(Stack.of(self), "AlarmsTopicArn", value=self.topic.topic_arn).override_logical_id(
            "AlarmsTopicArn"
        )

    def _take_what_cloudwatch_says(self, name: str) -> None:
        """`enforce_ssl` makes a policy, which takes the place of the one that a topic has without one; that one lets
        everybody of the account publish. Source: AWS re:Post, "Why didn't I receive an SNS notification for my
        CloudWatch alarm trigger?".
        """
        alarms = Stack.of(self).format_arn(
            service="cloudwatch",
            resource="alarm",
            resource_name=f"acta-{name}-*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        self._let_publish("Alarms", "cloudwatch", {"ArnLike": {"aws:SourceArn": alarms}})

    def _let_publish(
        self, sid: str, service: str, conditions: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    ) -> None:
        """In the name of this account alone."""
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid=sid,
                principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[self.topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}, **conditions},
            )
        )

    def _tell_slack(self, name: str, channel: SlackChannel) -> None:
        policy = iam.ManagedPolicy.from_aws_managed_policy_name(READS_METRICS)
        chatbot.SlackChannelConfiguration(
            self,
            "Slack",
            slack_channel_configuration_name=f"acta-{name}",
            slack_workspace_id=channel.workspace_id,
            slack_channel_id=channel.channel_id,
            notification_topics=[self.topic],
            guardrail_policies=[policy],
        )

    def _watch_the_bill(self, name: str, budget: MonthlyBudget) -> None:
        """AWS Budgets looks at the bill a few times a day, so it is hours behind."""
        self._let_publish("Budgets", "budgets")
        topic = budgets.CfnBudget.SubscriberProperty(subscription_type="SNS", address=self.topic.topic_arn)
        told = [
            budgets.CfnBudget.NotificationWithSubscribersProperty(
                notification=budgets.CfnBudget.NotificationProperty(
                    notification_type=kind,
                    comparison_operator="GREATER_THAN",
                    threshold=percent,
                    threshold_type="PERCENTAGE",
                ),
                subscribers=[topic],
            )
            for kind, percent in (("ACTUAL", budget.warn_at_percent), ("ACTUAL", 100), ("FORECASTED", 100))
        ]
        made = budgets.CfnBudget(
            self,
            "Budget",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_name=f"acta-{name}",
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=budget.usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:environment${name}"]} if budget.tagged_only else None,
            ),
            notifications_with_subscribers=told,
        )
        made.node.add_dependency(self.topic)
