"""Stores the product's prompts when a stack is deployed, and again when a release changes their texts.

The texts are properties of a custom resource. So a changed text updates the resource, and a rollback stores the former
text again. `shared/acta_engine/prompts/seeding.py` writes them and leaves tenants' own versions alone.
"""

from collections.abc import Mapping

from aws_cdk import CustomResource, Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from acta_engine.prompts.prompt import SEEDS
from acta_infra.sizing import FunctionName

READERS: tuple[FunctionName, ...] = ("step",)
"""Functions that read prompts are updated after the prompts are stored: a process keeps a prompt that it has read for
as long as its tenant changes no definition."""


class Prompts(Construct):
    """The custom resource. The function `admin` answers it."""

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
