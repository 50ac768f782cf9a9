"""The CDK app. A synthesis makes no call to AWS.

Context values, each given as `-c name=value`:

    env                   required: the name of the environment (`infra/environments.py`)
    retry_base_seconds    another retry base for this deployment, a whole number of seconds
    write_version         the schema version to write, where it is not the environment's; `acta deploy` chooses it
    notifications         any value: the local environment sends notifications to the developer's webhook
"""

import sys

from aws_cdk import App, Tags

from infra.environments import Environment, UnusableValue, select
from infra.nag_exceptions import acknowledge
from infra.sessions import SessionsStack
from infra.stateful import StatefulStack
from infra.stateless import StatelessStack


def add_stacks(app: App, environment: Environment) -> None:
    """The stacks of `environment`, tagged, with the exceptions from cdk-nag's rules."""
    stateful, sessions = StatefulStack(app, environment), SessionsStack(app, environment)
    stateless = StatelessStack(app, environment, stateful, sessions)
    for stack in (stateful, sessions, stateless):
        Tags.of(stack).add("service", "acta")
        Tags.of(stack).add("environment", environment.name)
    acknowledge(environment, stateful, sessions, stateless)


def main() -> None:
    """Exits with one line for a person where a context value cannot be used."""
    app = App()
    try:
        environment = select(app.node.try_get_context("env"))
        base = app.node.try_get_context("retry_base_seconds")
        if base is not None:
            environment = environment.with_retry_base(str(base))
        version = app.node.try_get_context("write_version")
        if version is not None:
            environment = environment.with_write_version(str(version))
        if app.node.try_get_context("notifications") is not None:
            environment = environment.with_notifications()
    except UnusableValue as unusable:
        sys.exit(str(unusable))
    add_stacks(app, environment)
    app.synth()


if __name__ == "__main__":
    main()
