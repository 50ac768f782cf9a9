"""What an operator does with AWS credentials is in the audit trail, too: before it begins and how it ended (ADR 142).

Work on a tenant is among that tenant's records, where its admins read it. Work on the whole environment is in the
partition `D` of the table. An operator is named by the pseudonym of their ARN, if their credentials may read the key,
and otherwise as `operator`; CloudTrail has who it was.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache

from acta.engine.audit.record import AuditRecord, OperatorAction, Outcome, shortened
from acta.engine.audit.trail import DynamoTrail, KeyedPseudonyms
from acta.engine.aws.clients import Service
from acta.engine.clock import AUDIT, Clock, SystemClock
from acta.infra.deployed.account import AWS_ERRORS, Account
from acta.infra.deployed.stacks import stack_outputs
from acta.infra.names import AUDIT as KEY
from acta.infra.names import secret_name

OPERATOR = "operator"
"""Who an operator is where the key of the pseudonyms cannot be read, and the role of all operators."""


ENDS_HARM: frozenset[OperatorAction] = frozenset(
    {"deployment.rollback", "deployment.quarantine", "user.remove", "user.sign_out"}
)
"""These are done although they cannot be recorded: an operator may need them while AWS refuses or is away."""


class OperatorTrail:
    """`pseudonym`: of a person in a tenant; empty where the key cannot be read. `arn`: AWS's name of the operator."""

    def __init__(
        self,
        trail: DynamoTrail,
        clock: Clock,
        pseudonym: Callable[[str, str], str] = lambda tenant, user: "",
        arn: Callable[[], str] = str,
    ) -> None:
        self._trail, self._clock, self._pseudonym, self._arn = trail, clock, pseudonym, arn

    @contextmanager
    def recorded(
        self, action: OperatorAction, tenant: str | None = None, **details: str
    ) -> Iterator[dict[str, str]]:
        """Records that the work begins, and how it ended with the details that were added meanwhile. Work that nobody
        ended, because its command was killed, stays `begun`. `tenant` None: the whole environment. Raises what AWS
        raises; then the work does not begin, unless it ends harm.
        """
        begun = self._record(tenant, action, details)
        with suppress(*(AWS_ERRORS if action in ENDS_HARM else ())):
            self._trail.put(tenant, begun)
        told: dict[str, str] = {}
        outcome: Outcome = "failed"
        try:
            yield told
            outcome = "done"
        finally:
            added = {name: shortened(value) for name, value in told.items()}
            ended = {"ended_at": self._clock.now(), "outcome": outcome, "details": {**begun.details, **added}}
            with suppress(*AWS_ERRORS):  # what was done was done, and its beginning is recorded
                self._trail.put(tenant, begun.model_copy(update=ended))

    def person(self, tenant: str, user: str) -> dict[str, str]:
        """The detail that says whom the work is about, as far as that can be said. `user`: their subject."""
        found = self._pseudonym(tenant, user) if user else ""
        return {"person": found} if found else {}

    def note(self, action: str, tenant: str, **details: str) -> None:
        """Records an erasure that is part of one before it begins: after a restore of the table it is known what to
        erase again.
        """
        begun = self._record(tenant, action, details)
        self._trail.put(tenant, begun.model_copy(update={"ended_at": begun.at, "outcome": "done"}))

    def _record(self, tenant: str | None, action: str, details: Mapping[str, str]) -> AuditRecord:
        return AuditRecord(
            audit_id=self._clock.new_id(AUDIT),
            at=self._clock.now(),
            who=self._pseudonym(tenant or "", self._arn()) or OPERATOR,
            roles=(OPERATOR,),
            action=action,
            details={name: shortened(value) for name, value in details.items()},
        )


def trail_of(account: Account, audit_table: str = "") -> OperatorTrail:
    """`audit_table`: empty: the one in the outputs of the environment's stack. Raises OutputsUnknown."""
    if not audit_table:
        audit_table = stack_outputs(account.environment, account.client("cloudformation"))["AuditTableName"]
    secrets = Service("secretsmanager", account.client("secretsmanager"))
    sts = Service("sts", account.client("sts"))

    def read(name: str) -> str:
        return str(secrets.call("get_secret_value", SecretId=name)["SecretString"])

    pseudonyms = KeyedPseudonyms(secret_name(account.environment, KEY), secrets=read)

    @cache
    def pseudonym(tenant: str, user: str) -> str:
        with suppress(*AWS_ERRORS):
            return pseudonyms.of(tenant, user)
        return ""

    @cache
    def arn() -> str:
        with suppress(*AWS_ERRORS):
            return str(sts.call("get_caller_identity")["Arn"])
        return ""

    trail = DynamoTrail(audit_table, client=account.client("dynamodb"))
    return OperatorTrail(trail, SystemClock(), pseudonym, arn)
