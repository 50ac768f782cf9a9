"""The audit trail of this deployment."""

from shared.adapters.audit.pseudonyms import LOCAL_KEY, KeyedPseudonyms
from shared.adapters.audit.trail import DynamoTrail
from shared.ports.audit import Audit
from shared.ports.clock import Clock
from shared.settings import Settings


def audit(settings: Settings, clock: Clock) -> Audit:
    local_key = LOCAL_KEY if settings.is_local else ""
    return Audit(
        DynamoTrail(settings.audit_table, settings.audit_retention_days),
        KeyedPseudonyms(settings.audit_secret, local_key),
        clock,
    )
