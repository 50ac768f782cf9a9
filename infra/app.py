"""The CDK app: `-c env=<name>` selects the environment. Nothing here asks AWS anything."""

import sys

from aws_cdk import App, Tags

from infra.environments import Environment, UnusableValue, select
from infra.nag_exceptions import acknowledge
from infra.stateful import StatefulStack
from infra.stateless import StatelessStack


def add_stacks(app: App, environment: Environment) -> tuple[StatefulStack, StatelessStack]:
    stateful = StatefulStack(app, environment)
    stateless = StatelessStack(app, environment, stateful)
    for stack in (stateful, stateless):
        Tags.of(stack).add("service", "acta")
        Tags.of(stack).add("environment", environment.name)
    acknowledge(stateful, stateless)
    return stateful, stateless


def main() -> None:
    app = App()
    try:
        environment = select(app.node.try_get_context("env"))
        base = app.node.try_get_context("retry_base_seconds")
        if base is not None:
            environment = environment.with_retry_base(str(base))
        if app.node.try_get_context("notifications") is not None:
            environment = environment.with_notifications()
    except UnusableValue as unusable:
        sys.exit(str(unusable))
    add_stacks(app, environment)
    app.synth()


if __name__ == "__main__":
    main()
