"""The one way a tenant's definitions are written: all at once, and with another revision."""

from shared.adapters.aws_clients import Service
from shared.adapters.dynamodb import definition_items as items
from shared.adapters.dynamodb.transaction import Action, ConditionFailed, put, put_record, transact
from shared.ports.clock import Clock
from shared.ports.definitions import DefinitionChanged
from shared.ports.log import IdempotencyRecord, KeyTaken


def change_definition(
    dynamodb: Service,
    table: str,
    clock: Clock,
    tenant: str,
    decisive: Action,
    record: IdempotencyRecord | None = None,
    *more: Action,
) -> None:
    """The revision is a text nobody had before, not a count, so there is nothing to read and nothing to lose. Raises
    DefinitionChanged where a condition does not hold, KeyTaken.
    """
    revision = put(table, items.revision_item(tenant, clock.new_id("rev")))
    kept = [] if record is None else [put_record(table, record, clock)]
    try:
        transact(dynamodb, clock, [decisive, revision, *more, *kept])
    except ConditionFailed as failed:
        raise (KeyTaken if failed.failed == {2 + len(more)} else DefinitionChanged) from None
