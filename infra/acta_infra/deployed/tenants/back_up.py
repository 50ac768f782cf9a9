"""Takes a backup of a tenant: definitions, sessions with their texts, files as they are now.

What gives rights or belongs to work under way is left out already here, so that no backup has it: tokens that wake an
execution, leases, ids of answers that are being made, what the engine was told to do. Secrets are in no store that is
read. Each session is as it was when it was read; a backup of a tenant at work is not one instant of all its sessions.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from acta_engine.agents.store import all_agents
from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import PoisonedSession, SchemaUnknown
from acta_engine.log.texts import BlobMissing
from acta_engine.prompts.prompt import SEEDS
from acta_engine.store.keys import FILES as FILE_KEYS
from acta_engine.store.keys import SESSIONS as TEXT_KEYS
from acta_engine.store.keys import key_part, tenant_prefix
from acta_engine.store.objects import MISSING, read_object
from acta_engine.store.schema import CURRENT, FrozenModel, to_json
from acta_infra.deployed.tenants.backup_format import (
    CONTENT,
    DEFINITIONS,
    FILES,
    SESSIONS,
    About,
    Line,
    Writer,
    pack_lines,
    sha256_of,
    without_rights,
)
from acta_infra.deployed.tenants.backup_places import Place
from acta_infra.deployed.tenants.read_all import (
    all_interventions,
    all_memories,
    all_objects,
    all_sessions,
)
from acta_infra.deployed.tenants.stores import TenantStores

HASH_CHARS = 64
Told = Callable[[str, str], None]
"""Is called with a session's id and why it is not in the backup."""


class NothingThere(ValueError):
    """The tenant has nothing that a backup could have: its name may be mistyped."""


def back_up(stores: TenantStores, tenant: str, place: Place, told: Told) -> Mapping[str, int]:
    """Returns counts of what was backed up: `definitions`, `sessions`, `files`, and `unreadable` sessions, which are
    left out. Raises NothingThere, and what the stores raise; then the backup is not finished, and may be taken again at
    the same place.
    """
    about = About(tenant, stores.names.environment, stores.clock.now(), CURRENT)
    writer, counts = Writer(place, about), Counter[str](definitions=0, sessions=0, files=0, unreadable=0)

    definitions = list(_definitions(stores, tenant))
    if not definitions and not _has_sessions_or_files(stores, tenant):
        raise NothingThere(tenant)
    writer.write(DEFINITIONS, pack_lines(definitions))
    counts["definitions"] = len(definitions)

    for entry in all_sessions(stores, tenant):
        session_id = entry.session_id
        try:
            lines = list(_session(stores, tenant, session_id))
        except BlobMissing:
            if stores.log.latest(tenant, session_id) is not None:
                told(session_id, "a text of it is missing")
                counts["unreadable"] += 1
            continue  # deleted meanwhile
        except (PoisonedSession, SchemaUnknown) as error:
            told(session_id, str(error))
            counts["unreadable"] += 1
            continue
        if lines:  # else it was deleted meanwhile
            writer.write(f"{SESSIONS}{key_part(session_id)}.jsonl.gz", pack_lines(lines))
            counts["sessions"] += 1

    files: list[Line] = []
    for path, data in _files(stores, tenant):
        digest = sha256_of(data)
        writer.write(CONTENT + digest, data)
        files.append({"path": path, "bytes": len(data), "sha256": digest})
    writer.write(FILES, pack_lines(files))
    counts["files"] = len(files)

    writer.finish(counts)
    return counts


def _has_sessions_or_files(stores: TenantStores, tenant: str) -> bool:
    files = all_objects(stores, stores.names.bucket, tenant_prefix(FILE_KEYS, tenant))
    return any(True for _ in all_sessions(stores, tenant)) or any(True for _ in files)


def _document(kind: str, document: FrozenModel) -> Line:
    return {"kind": kind, "version": CURRENT, "document": json.loads(to_json(document, CURRENT))}


def _definitions(stores: TenantStores, tenant: str) -> Iterator[Line]:
    agents = all_agents(stores.definitions, tenant)
    yield from (_document("agent", agent) for agent in agents if not agent.is_built_in)
    yield from (_document("tool", tool) for tool in stores.definitions.tools.all(tenant))
    yield from (_document("mcp_server", server) for server in stores.definitions.servers.all(tenant))
    for name in SEEDS:
        newest = stores.definitions.prompt(tenant, name)
        if newest.is_seed:
            continue
        for version in range(1, newest.version + 1):
            prompt = stores.definitions.prompt_version(tenant, name, version)
            if prompt is not None and not prompt.draft:  # sessions that try one come back ended
                yield _document("prompt", prompt)
    yield from (_document("memory", memory) for memory in all_memories(stores, tenant))
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
    yield from (_document("intervention", one) for one in all_interventions(stores, tenant, session_id))


def _text_names(stores: TenantStores, tenant: str, session_id: str) -> Iterator[str]:
    """Of the texts that are named after their hash. Segments of the conversation follow from the commits, and a reply
    that was not committed belongs to work under way.
    """
    prefix = f"{tenant_prefix(TEXT_KEYS, tenant)}{key_part(session_id)}/"
    for found in all_objects(stores, stores.names.session_bucket, prefix):
        name = found["Key"].removeprefix(prefix)
        if len(name) == HASH_CHARS:
            yield name


def _files(stores: TenantStores, tenant: str) -> Iterator[tuple[str, bytes]]:
    """Each file as it is now, private ones too: where it is below the tenant's prefix, and its bytes."""
    prefix = tenant_prefix(FILE_KEYS, tenant)
    for found in all_objects(stores, stores.names.bucket, prefix):
        try:
            data = read_object(stores.objects, stores.names.bucket, found["Key"]).body
        except AwsRefused as refused:
            if refused.code != MISSING:
                raise
            continue  # deleted meanwhile
        yield found["Key"].removeprefix(prefix), data
