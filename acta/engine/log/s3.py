"""The blob store on S3: texts at `sessions/{tenant}/{session}/{SHA-256 of the text}`, or with a name of their own in
place of the hash, gzipped if that is shorter.
"""

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.bound_tenant import carried
from acta.engine.errors import PoisonedSession
from acta.engine.log.beside import BlobMissing
from acta.engine.store.keys import SESSIONS, key_part, tenant_prefix
from acta.engine.store.objects import MISSING, erase_prefix, read_object

REMEMBERED = 1_024
"""How many stored keys a process remembers, so that it does not store the same text again."""
PARALLEL = 8
"""Texts that are read at the same time from S3, where each takes milliseconds."""
_LEVEL = 2
"""The compression level. It takes a third of the CPU of the default level, for 8 % more bytes."""
_GZIP = 31
"""zlib's window bits for the gzip format. So the module gzip need not be imported."""


class S3Blobs:
    """A BlobStore. `client`: a botocore S3 client instead of the process's. `parallel`: how many texts are read at the
    same time.
    """

    def __init__(self, bucket: str, client: Any = None, parallel: int = PARALLEL) -> None:
        self._bucket = bucket
        self._parallel = parallel
        self._s3 = Service("s3", client)
        self._put: set[str] = set()

    def put(self, tenant: str, session_id: str, text: str) -> str:
        raw = text.encode("utf-8", "surrogatepass")
        name = hashlib.sha256(raw).hexdigest()
        key = _prefix(tenant, session_id) + name
        if key in self._put:
            return name
        self._store(key, raw)
        if len(self._put) >= REMEMBERED:
            self._put.clear()
        self._put.add(key)
        return name

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        self._store(_prefix(tenant, session_id) + name, text.encode("utf-8", "surrogatepass"))

    def _store(self, key: str, raw: bytes) -> None:
        press = zlib.compressobj(level=_LEVEL, wbits=_GZIP)
        small = press.compress(raw) + press.flush()
        encoding = {"ContentEncoding": "gzip"} if len(small) < len(raw) else {}
        self._s3.call(
            "put_object",
            Bucket=self._bucket,
            Key=key,
            Body=small if encoding else raw,
            ContentType="text/plain; charset=utf-8",
            **encoding,
        )

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        wanted = tuple(dict.fromkeys(names))
        prefix = _prefix(tenant, session_id)
        if min(len(wanted), self._parallel) < 2:
            return {name: self._get(prefix + name) for name in wanted}
        from concurrent.futures import ThreadPoolExecutor

        read = carried(lambda name: self._get(prefix + name))
        _ = self._s3.client  # makes the client now, so that the threads do not make one each
        with ThreadPoolExecutor(min(self._parallel, len(wanted))) as pool:
            return dict(zip(wanted, pool.map(read, wanted), strict=True))

    def delete_all(self, tenant: str, session_id: str) -> None:
        prefix = _prefix(tenant, session_id)
        erase_prefix(self._s3, self._bucket, prefix)
        self._put = {key for key in self._put if not key.startswith(prefix)}

    def _get(self, key: str) -> str:
        try:
            found = read_object(self._s3, self._bucket, key)
            raw = zlib.decompress(found.body, _GZIP) if found.encoding == "gzip" else found.body
            return raw.decode("utf-8", "surrogatepass")
        except (zlib.error, UnicodeDecodeError):
            raise PoisonedSession("a stored text cannot be read") from None
        except AwsRefused as refused:
            if refused.code != MISSING:
                raise
            raise BlobMissing("a blob is missing") from None


def _prefix(tenant: str, session_id: str) -> str:
    return f"{tenant_prefix(SESSIONS, tenant)}{key_part(session_id)}/"
