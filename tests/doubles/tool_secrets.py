"""What is known of tools' secrets, for calls that no API has prepared."""

from collections.abc import Iterable
from datetime import UTC, datetime

from acta.engine.tools.tenant.credentials import Known
from acta.engine.tools.tool import ToolSecret

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def known_for(hosts: Iterable[str], *names: str) -> Known:
    """Each of the secrets was set for these hosts."""
    made = tuple(
        ToolSecret(name=name, created_at=NOW, updated_at=NOW, updated_by="ann", hosts=tuple(hosts))
        for name in names
    )
    return lambda tenant: made
