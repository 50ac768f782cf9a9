"""Takes a backup of a tenant: its definitions, its sessions with their texts, and its files as they are now.

    backup.jsonl                  the list of the parts: written last, so without it a backup is not whole
    definitions.jsonl.gz          agents, tools, MCP servers, triggers, versions of prompts, memories, schedules,
                                  webhook; a line each
    sessions/{session}.jsonl.gz   its commits, its texts, its decided interventions; a line each
    files.jsonl.gz                path, size and content's hash of each file
    files/{sha256}                the bytes of a file, as they are

Every line is a JSON object (docs/data.md, "A backup"). A document of Acta's own has its schema version beside it, and
is read by the same readers as what is stored. The list has the SHA-256 of each part, and in its last line that of the
lines before, so that damage is found.

A backup never contains what gives rights or belongs to unfinished work: tokens that wake an execution, leases, ids of
answers that are being made, what the engine was told to do. Secrets are in none of the stores that it reads. Each
session is as it was when it was read; a backup of a tenant at work is not one instant of all its sessions.
"""

import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from acta.engine.agents.store import all_agents
from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import PoisonedSession, SchemaUnknown
from acta.engine.log.beside import BlobMissing
from acta.engine.log.commit import Commit
from acta.engine.prompts.prompt import SEEDS
from acta.engine.schedules.schedule import Schedule, ScheduleSettings
from acta.engine.store.keys import FILES as FILE_KEYS
from acta.engine.store.keys import SESSIONS as TEXT_KEYS
from acta.engine.store.keys import key_part, tenant_prefix
from acta.engine.store.objects import MISSING, read_object
from acta.engine.store.schema import CURRENT, FrozenModel, to_json
from acta.engine.untrusted.exact_json import read_exactly
from acta.engine.untrusted.own_files import NameRefused, inside, write_own
from acta.infra.deployed.tenants.stores import TenantStores

BUCKET_SCHEME = "s3://"


class PartMissing(Exception):
    """The backup has no part of that name."""


class BackupPlace(Protocol):
    def read(self, name: str) -> bytes:
        """Raises PartMissing."""

    def write(self, name: str, data: bytes) -> None:
        """Writes the part completely or not at all. A part of the same name is replaced."""

    def has(self, name: str) -> bool: ...


class BackupFolder:
    """Only its owner can read it: a backup has what people and agents said."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, name: str) -> bytes:
        try:
            return inside(self._path, name).read_bytes()
        except (FileNotFoundError, NameRefused):
            raise PartMissing(name) from None

    def write(self, name: str, data: bytes) -> None:
        write_own(inside(self._path, name), data)

    def has(self, name: str) -> bool:
        return inside(self._path, name).exists()


class _S3OfAccount(Service):
    """Asks only buckets of one account: somebody else may have taken a bucket's name."""

    def __init__(self, s3: Any, account: str) -> None:
        super().__init__("s3", s3)
        self._account = account

    def call(self, operation: str, **parameters: Any) -> Any:
        return super().call(operation, **parameters, ExpectedBucketOwner=self._account)


class Bucket:
    """`prefix`: the beginning of all keys, without a slash at its end. `owner`: the account whose bucket it is."""

    def __init__(self, s3: Any, bucket: str, prefix: str, owner: str) -> None:
        self._s3 = _S3OfAccount(s3, owner)
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""

    def read(self, name: str) -> bytes:
        try:
            return read_object(self._s3, self._bucket, self._prefix + name).body
        except AwsRefused as refused:
            if refused.code != MISSING:
                raise
            raise PartMissing(name) from None

    def write(self, name: str, data: bytes) -> None:
        self._s3.call("put_object", Bucket=self._bucket, Key=self._prefix + name, Body=data)

    def has(self, name: str) -> bool:
        key = self._prefix + name
        found = self._s3.call("list_objects_v2", Bucket=self._bucket, Prefix=key, MaxKeys=1)
        return any(each["Key"] == key for each in found.get("Contents", ()))


def place_of(where: str, s3: Any, owner: Callable[[], str]) -> BackupPlace:
    """`where`: a folder, or `s3://bucket/prefix`. `owner`: says whose bucket it has to be. Raises ValueError where it
    names no bucket.
    """
    if not where.startswith(BUCKET_SCHEME):
        return BackupFolder(Path(where))
    bucket, _, prefix = where.removeprefix(BUCKET_SCHEME).partition("/")
    if not bucket:
        raise ValueError("a place in S3 is s3://bucket/prefix")
    return Bucket(s3, bucket, prefix.rstrip("/"), owner())


SCHEDULE_KEPT = ("schedule_id", "created_by", "applied", "version", "created_at", "updated_at")
FORMAT = 1
"""The format in which backups are written. Readers accept this one and all earlier ones."""
LIST, DEFINITIONS, FILES, SESSIONS = "backup.jsonl", "definitions.jsonl.gz", "files.jsonl.gz", "sessions/"
CONTENT = "files/"

Line = Mapping[str, Any]


class BackupUnusable(Exception):
    """The backup is incomplete, damaged or of a later release. The message says which part and what to do."""


class BackupPart(NamedTuple):
    """`sha256`: the digest of the part's bytes as they are stored, in hex."""

    name: str
    sha256: str
    bytes: int


def session_part(session_id: str) -> str:
    """The name of the part with this session."""
    return f"{SESSIONS}{key_part(session_id)}.jsonl.gz"


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


MAX_UNPACKED_BYTES, MAX_LINE_BYTES = 512 * 2**20, 64 * 2**20
"""Of one part, and of one line in it. A part of a few megabytes could unpack to gigabytes."""


def pack_lines(lines: Iterable[Line]) -> bytes:
    """The same lines give the same bytes. Raises PoisonedSession where the part would be one that nobody can read."""
    encoded = [_line(each).encode() for each in lines]
    if sum(map(len, encoded)) > MAX_UNPACKED_BYTES or max(map(len, encoded), default=0) > MAX_LINE_BYTES:
        raise PoisonedSession(f"it has more than {MAX_UNPACKED_BYTES:,} bytes, or a text that is too long")
    return gzip.compress(b"".join(encoded), mtime=0)


def _line(value: Line) -> str:
    """Writes ASCII only, which keeps even half a surrogate pair, as JSON may contain it."""
    return json.dumps(value, separators=(",", ":")) + "\n"


def lines_of(name: str, data: bytes) -> Iterator[Line]:
    """Unpacks one line after another. Raises BackupUnusable."""
    left = MAX_UNPACKED_BYTES
    try:
        with gzip.open(BytesIO(data)) as unpacked:
            while line := unpacked.readline(min(left, MAX_LINE_BYTES) + 1):
                left -= len(line)
                if left < 0 or len(line) > MAX_LINE_BYTES:
                    raise BackupUnusable(f"{name} is larger than any part that a backup has")
                yield _parsed(line)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error):
        raise BackupUnusable(f"{name} cannot be read: take another backup") from None


def _parsed(line: bytes) -> Line:
    """Raises ValueError, RecursionError."""
    value = read_exactly(line.decode())
    if not isinstance(value, dict):
        raise ValueError("a line is an object")
    return value


def without_rights(commit: Commit) -> Commit:
    """The commit without what gives rights or belongs to work under way, which no backup has."""
    head = commit.head.model_copy(
        update={"wait": None, "lease": None, "day_lease": None, "background": None, "counted": False}
    )
    return commit.model_copy(update={"head": head, "decision": None})


def at_rest(schedule: Schedule) -> Schedule:
    """What its author has defined, paused: without the roles that its sessions had, and without where it stands."""
    kept = {name: getattr(schedule, name) for name in (*ScheduleSettings.model_fields, *SCHEDULE_KEPT)}
    return Schedule(**{**kept, "paused": True})


class Backup:
    """A complete backup. Opening and reading it raise BackupUnusable where something is missing or damaged."""

    def __init__(self, place: BackupPlace) -> None:
        self._place = place
        try:
            data = place.read(LIST)
        except PartMissing:
            raise BackupUnusable(f"there is no {LIST}: no backup is there, or it was not finished") from None
        body, _, end = data.rstrip(b"\n").rpartition(b"\n")
        try:
            first, *rest = map(_parsed, body.splitlines())
            last = _parsed(end)
            version = int(first["acta_backup"])
            self._parts = {
                each["name"]: BackupPart(each["name"], each["sha256"], each["bytes"]) for each in rest
            }
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BackupUnusable(f"{LIST} cannot be read: take another backup") from None
        if not 1 <= version <= FORMAT:
            raise BackupUnusable(f"it has format {version}, this release reads 1 to {FORMAT}")
        if last.get("end") != len(rest) or last.get("sha256") != sha256_of(body + b"\n"):
            raise BackupUnusable(f"{LIST} is damaged or cut off: take another backup")

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


HASH_CHARS = 64
Told = Callable[[str, str], None]
"""A function that is called with a session's id, or a definition's kind and name, and why that is not in the backup."""


class NothingThere(ValueError):
    """The tenant has nothing that a backup could have: its name may be mistyped."""


def back_up(stores: TenantStores, tenant: str, place: BackupPlace, told: Told) -> Mapping[str, int]:
    """Returns counts of what was backed up: `definitions`, `sessions`, `files`, and `unreadable` sessions, tools,
    MCP servers and triggers, which are left out. Raises NothingThere, and what the stores raise; then the backup is not
    finished, and may be taken again at the same place.
    """
    parts: dict[str, BackupPart] = {}
    counts = Counter[str](definitions=0, sessions=0, files=0, unreadable=0)
    first = {
        "acta_backup": FORMAT,
        "tenant": tenant,
        "environment": stores.names.environment,
        "taken_at": stores.clock.now().isoformat(),
        "schema": CURRENT,
    }

    def write(name: str, data: bytes) -> None:
        part = BackupPart(name, sha256_of(data), len(data))
        if parts.get(name) != part:  # two files with the same content are one part
            place.write(name, data)
            parts[name] = part

    def leave_out(what: str, why: str) -> None:
        told(what, why)
        counts["unreadable"] += 1

    definitions = list(_definitions(stores, tenant, leave_out))
    objects = stores.all_objects(stores.names.bucket, tenant_prefix(FILE_KEYS, tenant))
    found = chain(definitions, stores.all_sessions(tenant), objects)
    if not counts["unreadable"] and not any(True for _ in found):
        raise NothingThere(tenant)
    write(DEFINITIONS, pack_lines(definitions))
    counts["definitions"] = len(definitions)

    for entry in stores.all_sessions(tenant):
        session_id = entry.session_id
        try:
            lines = list(_session(stores, tenant, session_id))
            packed = pack_lines(lines)
        except BlobMissing:
            if stores.log.latest(tenant, session_id) is not None:
                leave_out(session_id, "a text of it is missing")
            continue  # deleted meanwhile
        except (PoisonedSession, SchemaUnknown) as error:
            leave_out(session_id, str(error))
            continue
        if lines:  # else it was deleted meanwhile
            write(session_part(session_id), packed)
            counts["sessions"] += 1

    files: list[Line] = []
    for path, data in _files(stores, tenant):
        digest = sha256_of(data)
        write(CONTENT + digest, data)
        files.append({"path": path, "bytes": len(data), "sha256": digest})
    write(FILES, pack_lines(files))
    counts["files"] = len(files)

    whole = "".join(map(_line, (first, *(part._asdict() for part in parts.values()))))
    end = _line({"end": len(parts), "counts": counts, "sha256": sha256_of(whole.encode())})
    place.write(LIST, (whole + end).encode())
    return counts


def _document(kind: str, document: FrozenModel) -> Line:
    return {"kind": kind, "version": CURRENT, "document": json.loads(to_json(document, CURRENT))}


def _definitions(stores: TenantStores, tenant: str, leave_out: Told) -> Iterator[Line]:
    tools = stores.definitions.tools.all(tenant, lambda name, why: leave_out(f"tool {name}", why))
    servers = stores.definitions.servers.all(tenant, lambda name, why: leave_out(f"MCP server {name}", why))
    triggers = stores.definitions.triggers.all(tenant, lambda name, why: leave_out(f"trigger {name}", why))
    agents = all_agents(stores.definitions, tenant)
    yield from (_document("agent", agent) for agent in agents if not agent.is_built_in)
    yield from (_document("tool", tool) for tool in tools)
    yield from (_document("mcp_server", server) for server in servers)
    yield from (_document("trigger", trigger) for trigger in triggers)
    for name in SEEDS:
        newest = stores.definitions.prompt(tenant, name)
        if newest.is_seed:
            continue
        for version in range(1, newest.version + 1):
            prompt = stores.definitions.prompt_version(tenant, name, version)
            if prompt is not None and not prompt.draft:  # sessions that try one come back ended
                yield _document("prompt", prompt)
    yield from (_document("memory", memory) for memory in stores.all_memories(tenant))
    yield from (_document("schedule", at_rest(schedule)) for schedule in stores.schedules.all(tenant))
    receiver = stores.receivers.get(tenant)
    if receiver is not None:
        yield {"kind": "webhook", "url": receiver.url}
    for secret in stores.secret_names.all(tenant):
        yield {"kind": "secret_to_set", "name": secret.name, "hosts": secret.hosts}


def _session(stores: TenantStores, tenant: str, session_id: str) -> Iterator[Line]:
    """Empty where it was deleted meanwhile. The commits are read first: a text is stored before the commit that names
    it.
    """
    commits = stores.log.read(tenant, session_id, since=1).commits
    if not commits or commits[-1].head.deleted:
        return
    url = stores.session_webhook(tenant, session_id)
    about = {"kind": "session", "session_id": session_id, "commits": len(commits)}
    yield about if url is None else {**about, "webhook": url}
    yield from (_document("commit", without_rights(commit)) for commit in commits)
    for name in _text_names(stores, tenant, session_id):
        yield {"kind": "text", "name": name, "text": stores.blobs.get(tenant, session_id, (name,))[name]}
    yield from (_document("intervention", one) for one in stores.all_interventions(tenant, session_id))


def _text_names(stores: TenantStores, tenant: str, session_id: str) -> Iterator[str]:
    """The names of the texts that are named after their hash. The others are not needed: segments of the conversation
    can be computed from the commits, and an uncommitted reply belongs to unfinished work.
    """
    prefix = f"{tenant_prefix(TEXT_KEYS, tenant)}{key_part(session_id)}/"
    for found in stores.all_objects(stores.names.session_bucket, prefix):
        name = found["Key"].removeprefix(prefix)
        if len(name) == HASH_CHARS:
            yield name


def _files(stores: TenantStores, tenant: str) -> Iterator[tuple[str, bytes]]:
    """Each file as it is now, private ones too: its path below the tenant's prefix, and its bytes."""
    prefix = tenant_prefix(FILE_KEYS, tenant)
    for found in stores.all_objects(stores.names.bucket, prefix):
        try:
            data = read_object(stores.objects, stores.names.bucket, found["Key"]).body
        except AwsRefused as refused:
            if refused.code != MISSING:
                raise
            continue  # deleted meanwhile
        yield found["Key"].removeprefix(prefix), data
