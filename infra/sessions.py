"""The stack with the bucket of sessions' texts and the audit trail. The bucket keeps no versions: what is deleted there
is gone at once (ADR 44). Of the trail nothing is ever deleted (ADR 54).
"""

from aws_cdk import Stack
from constructs import Construct

from infra.data_stores import data_bucket
from infra.environments import Environment
from infra.hardening.audit_trail import audit_trail
from infra.names import sessions_stack
from infra.own_account import place


class SessionsStack(Stack):
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
