"""The CDK app. A synthesis makes no call to AWS.

Context values, each given as `-c name=value`:

    env                   required: the name of the environment (`infra/acta_infra/environments.py`)
    retry_base_seconds    another retry base for this deployment, a whole number of seconds
    park_after_seconds    another time after which sessions that wait are parked, a whole number of seconds
    provider_limits       what providers take in a minute, as JSON, where it is not the environment's
    write_version         the schema version to write, where it is not the environment's; `acta deploy` chooses it
    roll_out              `at_once`, whatever the environment says; `acta deploy` chooses it after a rollback
    notifications         any value: the local environment sends notifications to the developer's webhook
    tools_dir             the directory of the environment's folders of Python tools, absolute
    traces                any value: the local environment sends spans to the developer's endpoint
"""

import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

from aws_cdk import App, Stack, Tags
from aws_cdk import aws_iam as iam

from acta_infra.environments import Environment, UnusableValue, select
from acta_infra.hardening.edge import EdgeStack
from acta_infra.hardening.encryption import encrypt
from acta_infra.nag_exceptions import acknowledge
from acta_infra.own_environments import every_environment
from acta_infra.stateful import SessionsStack, StatefulStack
from acta_infra.stateless import StatelessStack
from acta_infra.tool_folders import BadFolder, require_known

BY_VALUE: Mapping[str, Callable[[Environment, str], Environment]] = MappingProxyType(
    {
        "retry_base_seconds": Environment.with_retry_base,
        "park_after_seconds": Environment.with_park_after,
        "provider_limits": Environment.with_provider_limits,
        "write_version": Environment.with_write_version,
        "roll_out": Environment.with_roll_out,
        "tools_dir": Environment.with_tools_dir,
    }
)
SWITCHES: Mapping[str, Callable[[Environment], Environment]] = MappingProxyType(
    {"notifications": Environment.with_notifications, "traces": Environment.with_traces}
)


def add_stacks(app: App, environment: Environment) -> None:
    """The stacks of `environment`, tagged, with the exceptions from cdk-nag's rules."""
    stateful, sessions = StatefulStack(app, environment), SessionsStack(app, environment)
    stateless = StatelessStack(app, environment, stateful, sessions)
    stacks: list[Stack] = [stateful, sessions, stateless]
    if environment.key is not None:
        encrypt(environment, environment.key, stateful, sessions, stateless)
    if environment.edge is not None and environment.domain is not None:
        stacks.append(EdgeStack(app, environment, environment.edge, environment.domain))
    for stack in stacks:
        Tags.of(stack).add("service", "acta")
        Tags.of(stack).add("environment", environment.name)
        for name, value in environment.tags.items():
            Tags.of(stack).add(name, value)
        if environment.permissions_boundary is not None:
            bound(stack, environment.permissions_boundary)
    acknowledge(environment, *stacks)


def bound(stack: Stack, policy_arn: str) -> None:
    """No role of the stack may do more than the policy allows."""
    policy = iam.ManagedPolicy.from_managed_policy_arn(stack, "Boundary", policy_arn)
    iam.PermissionsBoundary.of(stack).apply(policy)


def main() -> None:
    """Exits with one line for a person where a context value cannot be used."""
    app = App()
    try:
        among = every_environment(os.environ)
        environment = select(app.node.try_get_context("env"), among)
        for name, with_value in BY_VALUE.items():
            value = app.node.try_get_context(name)
            if value is not None:
                environment = with_value(environment, str(value))
        for name, switched_on in SWITCHES.items():
            if app.node.try_get_context(name) is not None:
                environment = switched_on(environment)
        require_known(environment.tool_folders, among)
        add_stacks(app, environment)
    except (UnusableValue, BadFolder) as unusable:
        sys.exit(str(unusable))
    app.synth()


if __name__ == "__main__":
    main()
