"""Secrets of a tenant's tools: which there are, and their values, which are kept apart (design §7).

A name is stored before its value and removed after it. So there is no value that nobody knows of.
All methods raise StoreThrottled, StoreUnavailable and AwsDenied.
"""

from typing import Protocol

from shared.domain.definitions.tool_secret import ToolSecret


class ToolSecretNames(Protocol):
    """Read strongly consistent."""

    def all(self, tenant: str) -> tuple[ToolSecret, ...]:
        """Sorted by name."""

    def put(self, tenant: str, secret: ToolSecret) -> None:
        """Adds it, or replaces the one of its name."""

    def delete(self, tenant: str, name: str) -> None:
        """Also where there is none."""


class ToolSecretValues(Protocol):
    """What admins use. Values can be written and not read."""

    def put(self, tenant: str, name: str, value: str) -> None:
        """Adds it, or replaces the one of its name. Raises StoreUnavailable while an earlier one is being deleted."""

    def delete(self, tenant: str, name: str) -> None:
        """For good. Also where there is none."""
