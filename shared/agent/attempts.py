"""Attempts at one step, as far as this process knows them."""


class Attempts:
    """Which attempts of this process ended without an answer: a 429, say, costs nothing. The engine counts attempts
    across processes; those this one knows nothing of have vanished and may have been paid for.
    """

    def __init__(self) -> None:
        self._ended: dict[str, int] = {}

    def ended(self, key: str) -> None:
        self._ended[key] = self._ended.get(key, 0) + 1

    def vanished(self, key: str, attempt: int) -> int:
        return max(0, attempt - self._ended.pop(key, 0))
