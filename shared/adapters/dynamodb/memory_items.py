"""Items of long-term memories. Each memory is two items: one strongly consistent read finds it by its id, in its
tenant's listing or in its agent's.

    pk                        sk                        attributes
    T#{tenant}                M#{memory}                k kind, u updated at, v, z body
    T#{tenant}#M#{agent}      M#{memory}                the same
    T#{tenant}#M#{agent}      H                         n how many, r revision, another text after each write
"""

from shared.adapters.dynamodb.session_items import Item, stored, tenant_pk
from shared.adapters.storage.documents import dump, load
from shared.adapters.storage.keys import key_part
from shared.domain.definitions.memory import Memory

MEMORY_VERSION = 1


def from_memory(memory: Memory) -> bytes:
    return dump(memory)


def to_memory(version: int, data: bytes) -> Memory:
    return load("memory", Memory, version, MEMORY_VERSION, data)


MEMORY = "M#"


def agent_pk(tenant: str, agent_id: str) -> str:
    return f"{tenant_pk(tenant)}#M#{key_part(agent_id)}"


def listed_key(tenant: str, memory_id: str) -> Item:
    """In the tenant's listing."""
    return _key(tenant_pk(tenant), MEMORY + key_part(memory_id))


def own_key(tenant: str, agent_id: str, memory_id: str) -> Item:
    """In the agent's."""
    return _key(agent_pk(tenant, agent_id), MEMORY + key_part(memory_id))


def memory_items(tenant: str, memory: Memory) -> tuple[Item, Item]:
    """The listed one, the agent's."""
    attributes: Item = {
        "k": {"S": memory.kind},
        "u": {"S": memory.updated_at.isoformat()},
        "v": {"N": str(MEMORY_VERSION)},
        "z": {"B": from_memory(memory)},
    }
    listed = listed_key(tenant, memory.memory_id)
    return {**listed, **attributes}, {**own_key(tenant, memory.agent_id, memory.memory_id), **attributes}


def item_memory(item: Item) -> Memory:
    return to_memory(*stored(item))


def head_key(tenant: str, agent_id: str) -> Item:
    return _key(agent_pk(tenant, agent_id), "H")


def head_item(tenant: str, agent_id: str, count: int, revision: str) -> Item:
    return {**head_key(tenant, agent_id), "n": {"N": str(count)}, "r": {"S": revision}}


def _key(pk: str, sk: str) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}
