"""The product's prompts in the store, from the first deployment on and anew with every release that words them anew.

Their texts stand in the template: a change of one is what makes the resource be updated, and a rollback brings the
former text back. Tenants' own versions are not touched (`functions/admin/seeding.py`).
"""

from collections.abc import Mapping

from aws_cdk import CustomResource, Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.environments import FunctionName
from shared.domain.definitions.prompt import SEEDS

READERS: tuple[FunctionName, ...] = ("step",)
"""Replaced after the prompts: a process keeps what it has read for as long as its tenant changes nothing."""


class Prompts(Construct):
    def __init__(self, scope: Construct, functions: Mapping[FunctionName, lambda_.IFunction]) -> None:
        super().__init__(scope, "Seeds")
        prompts = CustomResource(
            self,
            "Prompts",
            resource_type="Custom::ActaPrompts",
            service_token=functions["admin"].function_arn,
            service_timeout=Duration.seconds(120),
            properties={"Prompts": dict(SEEDS)},
        )
        for name in READERS:
            functions[name].node.add_dependency(prompts)
