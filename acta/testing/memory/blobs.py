"""Large texts in memory."""

import hashlib
from collections.abc import Iterable, Mapping

from acta_engine.log.texts import BlobMissing


class MemoryBlobs:
    def __init__(self) -> None:
        self._texts: dict[tuple[str, str, str], str] = {}

    def put(self, tenant: str, session_id: str, text: str) -> str:
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        self._texts[tenant, session_id, name] = text
        return name

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        self._texts[tenant, session_id, name] = text

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        try:
            return {name: self._texts[tenant, session_id, name] for name in names}
        except KeyError:
            raise BlobMissing("a blob is missing") from None

    def names(self, tenant: str, session_id: str) -> list[str]:
        return [name for held, session, name in self._texts if (held, session) == (tenant, session_id)]

    def delete_all(self, tenant: str, session_id: str) -> None:
        self._texts = {key: text for key, text in self._texts.items() if key[:2] != (tenant, session_id)}
