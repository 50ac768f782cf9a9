"""The CDK app. A synthesis makes no call to AWS.

Context values, each given as `-c name=value`:

- `env`, required: the name of the environment (`acta/infra/environments.py`).
- `decided`: what the operator has answered about undecided points of the posture, as JSON; `acta deploy` keeps it.
- `retry_base_seconds`: another retry base for this deployment, in whole seconds.
- `park_after_seconds`: another time after which sessions that wait are parked, in whole seconds.
- `provider_limits`: what providers take in a minute, as JSON, where it is not the environment's.
- `write_version`: the schema version to write, where it is not the environment's; `acta deploy` chooses it.
- `roll_out`: `at_once`, whatever the environment says; `acta deploy` chooses it after a rollback.
- `tools_dir`: the directory of the environment's folders of Python tools, absolute.
- `notifications`, `traces`: with any value the local environment sends them to the developer's webhook and endpoint.
"""

import os
import sys

from aws_cdk import App, Stack, Tags
from aws_cdk import aws_iam as iam

from acta.infra.environments import CONTEXT, Environment, UnusableValue, every_environment, select
from acta.infra.hardening.edge import EdgeStack
from acta.infra.hardening.encryption import encrypt
from acta.infra.nag_exceptions import acknowledge
from acta.infra.posture import Undecided, require_decided, settled
from acta.infra.stateful import SessionsStack, StatefulStack
from acta.infra.stateless import StatelessStack
from acta.infra.tool_folders import BadFolder, require_known


def add_stacks(app: App, environment: Environment) -> None:
    """The stacks of `environment`, tagged, with the exceptions from cdk-nag's rules. Raises Undecided."""
    require_decided(environment)
    environment = settled(environment)
    app.node.set_context("@aws-cdk/core:bootstrapQualifier", environment.bootstrap_qualifier)
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
    """Bounds every role of the stack by the policy: no role may do more than the policy allows."""
    policy = iam.ManagedPolicy.from_managed_policy_arn(stack, "Boundary", policy_arn)
    iam.PermissionsBoundary.of(stack).apply(policy)


FEATURES = {
    "@aws-cdk/core:defaultCrossStackReferences": "strong",
    "@aws-cdk/core:enablePartitionLiterals": True,
    "@aws-cdk/core:target-partitions": ["aws"],
    "@aws-cdk/aws-iam:minimizePolicies": False,
}
"""The CDK's feature flags that the templates are made with."""


def main() -> None:
    """Exits with one line for a person where a context value cannot be used."""
    app = App(context=FEATURES)
    try:
        among = every_environment(os.environ)
        environment = select(app.node.try_get_context("env"), among)
        for name in CONTEXT:
            value = app.node.try_get_context(name)
            if value is not None:
                environment = environment.with_context(name, str(value))
        require_known(environment.tool_folders, among)
        add_stacks(app, environment)
    except (UnusableValue, BadFolder, Undecided) as unusable:
        sys.exit(str(unusable))
    app.synth()


if __name__ == "__main__":
    main()
