"""Items of agents, tools and managed prompts, beside those of `items`.

pk                        sk                        attributes
T#{tenant}                R                         r revision, another text after each write of a definition
T#{tenant}                A#{agent}                 n version, c created at, v, z body
T#{tenant}                P#{prompt}                n version in force, v, z body
T#{tenant}                F#{tool}                  n version, c created at, v, z body
T#{tenant}#P#{prompt}     V#{version:010d}          v, z body
D                         P#{prompt}                the deployment's seed: v, z body
"""

from datetime import datetime

from shared.adapters.definition_documents import (
    AGENT_VERSION,
    PROMPT_VERSION,
    from_agent,
    from_prompt,
    to_agent,
    to_prompt,
)
from shared.adapters.dynamodb.items import Item, stored, tenant_pk
from shared.adapters.keys import key_part
from shared.domain.agent import AgentDefinition
from shared.domain.prompt import Prompt

AGENT = "A#"
VERSION = "V#"
DEPLOYMENT_PK = "D"


def revision_key(tenant: str) -> Item:
    return _key(tenant_pk(tenant), "R")


def revision_item(tenant: str, revision: str) -> Item:
    return {**revision_key(tenant), "r": {"S": revision}}


def agent_key(tenant: str, agent_id: str) -> Item:
    return _key(tenant_pk(tenant), AGENT + key_part(agent_id))


def agent_item(tenant: str, agent: AgentDefinition) -> Item:
    return {
        **agent_key(tenant, agent.agent_id),
        "n": {"N": str(agent.version)},
        "c": {"S": instant(agent.created_at)},
        "v": {"N": str(AGENT_VERSION)},
        "z": {"B": from_agent(agent)},
    }


def item_agent(item: Item) -> AgentDefinition:
    return to_agent(*stored(item))


def instant(at: datetime | None) -> str:
    return "" if at is None else at.isoformat()


def prompt_key(tenant: str, name: str) -> Item:
    return _key(tenant_pk(tenant), f"P#{key_part(name)}")


def prompt_item(tenant: str, prompt: Prompt) -> Item:
    return {**prompt_key(tenant, prompt.name), "n": {"N": str(prompt.version)}, **_body(prompt)}


def versions_pk(tenant: str, name: str) -> str:
    return f"{tenant_pk(tenant)}#P#{key_part(name)}"


def version_sk(version: int) -> str:
    return f"{VERSION}{version:010d}"


def version_item(tenant: str, prompt: Prompt) -> Item:
    return {**_key(versions_pk(tenant, prompt.name), version_sk(prompt.version)), **_body(prompt)}


def seed_key(name: str) -> Item:
    return _key(DEPLOYMENT_PK, f"P#{key_part(name)}")


def seed_item(prompt: Prompt) -> Item:
    return {**seed_key(prompt.name), **_body(prompt)}


def item_prompt(item: Item) -> Prompt:
    return to_prompt(*stored(item))


def _body(prompt: Prompt) -> Item:
    return {"v": {"N": str(PROMPT_VERSION)}, "z": {"B": from_prompt(prompt)}}


def _key(pk: str, sk: str) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}
