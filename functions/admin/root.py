"""Everything `admin` needs, put together once per process."""

from functools import cache
from typing import NamedTuple

from shared.adapters.s3.files import S3Files
from shared.ports.files import FileStore
from shared.settings import Settings, settings


class Root(NamedTuple):
    settings: Settings
    files: FileStore


@cache
def root() -> Root:
    chosen = settings()
    return Root(chosen, S3Files(chosen.bucket))
