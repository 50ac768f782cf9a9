"""Items of agents, managed prompts, tools and MCP servers, and the one function that writes a tenant's definitions.

pk                        sk                        attributes
T#{tenant}                R                         r revision, another text after each write of a definition
T#{tenant}                A#{agent}                 n version, c created at, v, z body
T#{tenant}                P#{prompt}                n version in force, v, z body
T#{tenant}                F#{tool}                  n version, c created at, v, z body
T#{tenant}                MCP#{server}              n version, c created at, v, z body
T#{tenant}#P#{prompt}     V#{version:010d}          v, z body
D                         P#{prompt}                the deployment's seed: v, z body
"""

from datetime import datetime

from acta_engine.agents.agent import AgentDefinition
from acta_engine.agents.store import DefinitionChanged
from acta_engine.aws.clients import Service
from acta_engine.clock import Clock
from acta_engine.log.commit import IdempotencyRecord
from acta_engine.log.store import KeyTaken
from acta_engine.prompts.prompt import Prompt
from acta_engine.store.dynamodb import Action, ConditionFailed, put, put_record, transact
from acta_engine.store.keys import key_part, tenant_pk
from acta_engine.store.schema import OLDEST_WRITTEN
from acta_engine.store.table_layout import Item, dump, item_key, load, stored


def from_agent(agent: AgentDefinition, version: int) -> bytes:
    return dump(agent, version)


def to_agent(version: int, data: bytes) -> AgentDefinition:
    return load("agent", AgentDefinition, version, data)


def from_prompt(prompt: Prompt, version: int) -> bytes:
    return dump(prompt, version)


def to_prompt(version: int, data: bytes) -> Prompt:
    return load("prompt", Prompt, version, data)


AGENT = "A#"
VERSION = "V#"
DEPLOYMENT_PK = "D"


def revision_key(tenant: str) -> Item:
    return item_key(tenant_pk(tenant), "R")


def revision_item(tenant: str, revision: str) -> Item:
    return {**revision_key(tenant), "r": {"S": revision}}


def agent_key(tenant: str, agent_id: str) -> Item:
    return item_key(tenant_pk(tenant), AGENT + key_part(agent_id))


def agent_item(tenant: str, agent: AgentDefinition, version: int) -> Item:
    """`version`: the one to write."""
    return {
        **agent_key(tenant, agent.agent_id),
        "n": {"N": str(agent.version)},
        "c": {"S": instant(agent.created_at)},
        "v": {"N": str(version)},
        "z": {"B": from_agent(agent, version)},
    }


def item_agent(item: Item) -> AgentDefinition:
    return to_agent(*stored(item))


def instant(at: datetime | None) -> str:
    return "" if at is None else at.isoformat()


def prompt_key(tenant: str, name: str) -> Item:
    return item_key(tenant_pk(tenant), f"P#{key_part(name)}")


def prompt_item(tenant: str, prompt: Prompt, version: int) -> Item:
    """`version`: the one to write, of the schema."""
    return {**prompt_key(tenant, prompt.name), "n": {"N": str(prompt.version)}, **_body(prompt, version)}


def versions_pk(tenant: str, name: str) -> str:
    return f"{tenant_pk(tenant)}#P#{key_part(name)}"


def version_sk(version: int) -> str:
    return f"{VERSION}{version:010d}"


def version_item(tenant: str, prompt: Prompt, version: int) -> Item:
    return {
        **item_key(versions_pk(tenant, prompt.name), version_sk(prompt.version)),
        **_body(prompt, version),
    }


def seed_key(name: str) -> Item:
    return item_key(DEPLOYMENT_PK, f"P#{key_part(name)}")


def seed_item(prompt: Prompt) -> Item:
    # the release before this one may still run
    return {**seed_key(prompt.name), **_body(prompt, OLDEST_WRITTEN)}


def item_prompt(item: Item) -> Prompt:
    return to_prompt(*stored(item))


def _body(prompt: Prompt, version: int) -> Item:
    return {"v": {"N": str(version)}, "z": {"B": from_prompt(prompt, version)}}


def change_definition(
    dynamodb: Service,
    table: str,
    clock: Clock,
    tenant: str,
    decisive: Action,
    record: IdempotencyRecord | None = None,
    *more: Action,
) -> None:
    """Writes `decisive` with the tenant's new revision, all or nothing. The revision is a new text and not a count, so
    nothing has to be read first. Raises DefinitionChanged where a condition does not hold, KeyTaken.
    """
    revision = put(table, revision_item(tenant, clock.new_id("rev")))
    kept = [] if record is None else [put_record(table, record, clock)]
    try:
        transact(dynamodb, clock, [decisive, revision, *more, *kept])
    except ConditionFailed as failed:
        raise (KeyTaken if failed.failed == {2 + len(more)} else DefinitionChanged) from None
