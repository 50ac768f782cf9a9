"""Items of long-term memories, beside those of `items`. A memory is two of them, so that it is found by its id, in its
tenant's listing and in its agent's with one strongly consistent read each.

    pk                        sk                        attributes
    T#{tenant}                M#{memory}                k kind, u updated at, v, z body
    T#{tenant}#M#{agent}      M#{memory}                the same
    T#{tenant}#M#{agent}      H                         n how many, r revision, another text after each write
"""

from shared.adapters.dynamodb.items import Item, stored, tenant_pk
from shared.adapters.keys import key_part
from shared.adapters.memory_documents import MEMORY_VERSION, from_memory, to_memory
from shared.domain.memory import Memory

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
