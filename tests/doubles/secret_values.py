"""The values of tools' secrets, in memory: in AWS they are in Secrets Manager."""

from acta.engine.errors import TransientError


class MemoryToolSecretValues:
    """The values of tools' secrets, written and read here. `away`: raised instead of the next answers."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}
        self.away: list[TransientError] = []

    def put(self, tenant: str, name: str, value: str) -> None:
        self._answer()
        self.values[tenant, name] = value

    def delete(self, tenant: str, name: str) -> None:
        self._answer()
        self.values.pop((tenant, name), None)

    def __call__(self, tenant: str, name: str, set_at: str = "") -> str | None:
        self._answer()
        return self.values.get((tenant, name))

    def _answer(self) -> None:
        if self.away:
            raise self.away.pop(0)
