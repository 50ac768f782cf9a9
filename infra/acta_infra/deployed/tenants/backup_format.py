"""The format of a backup (docs/data.md, "A backup").

    backup.jsonl                  the list of the parts: written last, so without it a backup is not whole
    definitions.jsonl.gz          agents, tools, MCP servers, versions of prompts, memories, webhook; a line each
    sessions/{session}.jsonl.gz   its commits, its texts, its decided interventions; a line each
    files.jsonl.gz                path, size and content's hash of each file
    files/{sha256}                the bytes of a file, as they are

Every line is a JSON object. A document of Acta's own has its schema version beside it, and is read by the same readers
as what is stored. A part is found whole by its SHA-256, which the list has; the list's last line has that of the lines
before it.
"""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from acta_engine.log.commit import Commit
from acta_infra.deployed.tenants.backup_places import PartMissing, Place

FORMAT = 1
"""Of what is written. Readers take this one and every one before it."""
LIST, DEFINITIONS, FILES, SESSIONS = "backup.jsonl", "definitions.jsonl.gz", "files.jsonl.gz", "sessions/"
CONTENT = "files/"

Line = Mapping[str, Any]


class BackupUnusable(Exception):
    """It is not whole, is damaged, or is of a later release. The message says which part and what to do."""


class About(NamedTuple):
    """Whose backup it is. `schema`: the schema version of its documents."""

    tenant: str
    environment: str
    taken_at: datetime
    schema: int


class Part(NamedTuple):
    """`sha256`: of its bytes as they are stored, in hex."""

    name: str
    sha256: str
    bytes: int


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pack_lines(lines: Iterable[Line]) -> bytes:
    """The same lines give the same bytes."""
    text = "".join(_line(each) for each in lines)
    return gzip.compress(text.encode(), mtime=0)


def _line(value: Line) -> str:
    """In ASCII, so that half of a surrogate pair, which JSON may have, is kept."""
    return json.dumps(value, separators=(",", ":")) + "\n"


def lines_of(name: str, data: bytes) -> Iterator[Line]:
    """Raises BackupUnusable."""
    try:
        for line in gzip.decompress(data).splitlines():
            yield json.loads(line)
    except (OSError, EOFError, ValueError):
        raise BackupUnusable(f"{name} cannot be read: take another backup") from None


def without_rights(commit: Commit) -> Commit:
    """The commit without what gives rights or belongs to work under way, which no backup has."""
    head = commit.head.model_copy(update={"wait": None, "lease": None, "background": None, "counted": False})
    return commit.model_copy(update={"head": head, "decision": None})


class Writer:
    """Writes the parts one by one, and at the end their list."""

    def __init__(self, place: Place, about: About) -> None:
        self._place = place
        self._about = about
        self._parts: dict[str, Part] = {}

    def write(self, name: str, data: bytes) -> None:
        """A part that was written already is written once."""
        part = Part(name, sha256_of(data), len(data))
        if self._parts.get(name) != part:
            self._place.write(name, data)
            self._parts[name] = part

    def finish(self, counts: Mapping[str, int]) -> None:
        about = {**self._about._asdict(), "taken_at": self._about.taken_at.isoformat()}
        lines = [_line({"acta_backup": FORMAT, **about})]
        lines += [_line(part._asdict()) for part in self._parts.values()]
        whole = "".join(lines)
        end = _line({"end": len(self._parts), "counts": counts, "sha256": sha256_of(whole.encode())})
        self._place.write(LIST, (whole + end).encode())


class Backup:
    """A backup that is whole. Raises BackupUnusable where it is not, and so does everything that reads it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        try:
            data = place.read(LIST)
        except PartMissing:
            raise BackupUnusable(f"there is no {LIST}: no backup is there, or it was not finished") from None
        body, _, end = data.rstrip(b"\n").rpartition(b"\n")
        try:
            first, *rest = (json.loads(line) for line in body.splitlines())
            last = json.loads(end)
            version = int(first["acta_backup"])
        except (ValueError, KeyError, TypeError):
            raise BackupUnusable(f"{LIST} cannot be read: take another backup") from None
        if not 1 <= version <= FORMAT:
            raise BackupUnusable(f"it has format {version}, this release reads 1 to {FORMAT}")
        if last.get("end") != len(rest) or last.get("sha256") != sha256_of(body + b"\n"):
            raise BackupUnusable(f"{LIST} is damaged or cut off: take another backup")
        taken_at = datetime.fromisoformat(first["taken_at"])
        self.about = About(first["tenant"], first["environment"], taken_at, int(first["schema"]))
        self.counts: Mapping[str, int] = last["counts"]
        self._parts = {each["name"]: Part(each["name"], each["sha256"], each["bytes"]) for each in rest}

    @property
    def identity(self) -> str:
        """Names this backup, wherever it was copied to."""
        return sha256_of(json.dumps([str(part) for part in self._parts.values()]).encode())[:16]

    def read(self, name: str) -> bytes:
        part = self._parts.get(name)
        if part is None:
            raise BackupUnusable(f"{name} is not in the backup")
        try:
            data = self._place.read(name)
        except PartMissing:
            raise BackupUnusable(f"{name} is missing: copy the whole backup") from None
        if sha256_of(data) != part.sha256:
            raise BackupUnusable(f"{name} is not what was backed up: its hash differs")
        return data

    def lines(self, name: str) -> Iterator[Line]:
        return lines_of(name, self.read(name))

    @property
    def sessions(self) -> tuple[str, ...]:
        """Names of the parts with sessions."""
        return tuple(name for name in self._parts if name.startswith(SESSIONS))
