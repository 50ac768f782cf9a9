"""What each function may do: the one table that the roles are made from.

If an adapter makes a call to AWS that this table does not allow, the call fails with `AccessDenied`. DynamoDB has no
action for transactions: it checks the actions inside them.

A function that works for one tenant at a time has two roles. Its own reaches no tenant's data. It may assume the second
one, `TenantRole`, which a session policy narrows to the tenant whose work it does (ADR 48). `recover` and `notify` act
for the deployment and have one role.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from acta.engine.models.own_providers import own_providers
from acta.engine.settings import Settings
from acta.infra.sizing import FunctionName

FILES = "files/*"
"""Object keys of the files that users and the file tools work with: `files/{tenant}/{path}`."""
SESSIONS = "sessions/*"
"""Object keys of long texts of sessions, in both buckets: `sessions/{tenant}/{session}/{hash}`."""

DEPLOYMENT = "D"
"""The partition key of the table's items that belong to no tenant (`docs/data.md`)."""

LEASES = "T#*#=Q"
"""Partition keys of the shares of tenants' rates. No name in a key has a `#` or a `=`."""
ADMISSION = "D#*#=A"
"""Partition keys of the buckets and lines of providers (ADR 106)."""
CHANGE = frozenset({"dynamodb:UpdateItem"})
"""Changes a tenant's counts, in transactions with other items of the tenant. IAM compares the keys of all items of a
transaction, so a narrower grant would refuse it. Functions with this grant may put those items anyway."""
USAGE = "T#*#=U"
"""Partition keys of tenants' usage. No name in a key has a `#` or a `=`."""

GET_ITEM = frozenset({"dynamodb:GetItem"})
READ = GET_ITEM | {"dynamodb:Query"}
COMMIT = READ | {"dynamodb:PutItem"}
"""A commit is a put under a free number, alone or in a transaction of puts."""
DELETE = COMMIT | {"dynamodb:BatchWriteItem"}
RECOVER = DELETE | {"dynamodb:DeleteItem", "dynamodb:Scan"}
"""Also removes the note of an erasure, and scans the table when an operator asks for failed sessions (ADR 46)."""
REMEMBER = COMMIT | {"dynamodb:DeleteItem"}
"""An agent's memories are limited in number, so the oldest summary may have to be deleted for a new memory."""

GET_SEVERAL = GET_ITEM | {"dynamodb:BatchGetItem"}
COUNT = frozenset({"dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"})
"""Actions on the items of tenants' usage alone."""

PUT_RECORD = frozenset({"dynamodb:PutItem"})
READ_RECORDS = frozenset({"dynamodb:Query"})
"""The action on the audit trail, which nobody may change (ADR 54)."""

GET = frozenset({"s3:GetObject"})
PUT = GET | {"s3:PutObject"}
EDIT = PUT | {"s3:DeleteObject"}
EDIT_EARLIER = EDIT | {"s3:GetObjectVersion"}
"""Also reads earlier versions, and lists them."""
ERASE = EDIT | {"s3:DeleteObjectVersion"}
"""Deletes earlier versions, too, so that nothing stays. A function with this grant also lists versions."""

INVOKE_CLAUDE = frozenset({"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"})
CLAUDE_MODELS = "foundation-model/anthropic.claude-*"
"""Only Claude, because the adapter writes Claude's wire format. In every region: a cross-region inference profile
passes a request on to models of other regions, and the role has to allow both the profile and the model."""
CLAUDE_PROFILES = "inference-profile/*.anthropic.claude-*"

GEOGRAPHY = r"(us|eu|apac|jp|au|ca|us-gov|global)\."
"""What the id of a cross-region inference profile begins with, before the model's own id."""
ASK_MANTLE = frozenset({"bedrock-mantle:CreateInference"})
"""Of an endpoint `bedrock-mantle.<region>.api.aws`, whose resources are projects."""

# If the execution already exists, the caller looks up whether it still runs.
START = frozenset({"states:StartExecution", "states:DescribeExecution"})
WAKE = frozenset({"states:SendTaskSuccess"})
STOP = frozenset({"states:StopExecution"})

SET_SECRETS = frozenset(
    {"secretsmanager:CreateSecret", "secretsmanager:DeleteSecret", "secretsmanager:PutSecretValue"}
)
"""A function that sets secrets can neither read one nor decide who else may."""
READ_SECRETS = frozenset({"secretsmanager:GetSecretValue"})

MEASURE = frozenset({"cloudwatch:GetMetricData", "lambda:GetAccountSettings"})
LIST_EXECUTIONS = frozenset({"states:ListExecutions"})

ON_EXECUTIONS = frozenset({"states:DescribeExecution", "states:StopExecution"})
"""Actions of Step Functions that apply to an execution, not to the state machine."""


@dataclass(frozen=True)
class Grants:
    """IAM actions of one function, by what they act on:

    - `by_tenant`: the function has a second role, and `table`, `files`, `sessions` and `audit` are granted to that one
    - `table`; `index`: the table's index of live sessions
    - `open_index`: the index of what is open of a tenant, read with the second role (ADR 107)
    - `leases`: takes shares of a tenant's rate (ADR 65); changes only the items of these shares
    - `deployment`: items of the table that belong to no tenant
    - `admission`: where the environment names limits, the providers' rate buckets and queues, which belong to no
      tenant; and calls `recover`, which serves the queues
    - `usage`: the sums of every tenant's usage, and the commits that the stream brings (`acta/infra/stream.py`)
    - `files`, `sessions`: objects under these keys. A function that may read them may also list them under their
      prefix, by which it tells a missing key from a forbidden one. One that erases lists versions, too.
    - `tool_secrets`: secrets of tenants' tools, granted to the second role
    - `receiver_secrets`: what notifications to tenants' webhooks are signed with, granted to the second role
    - `audit`: the table of the audit trail
    - `pseudonyms`: reads the key with which pseudonyms are made
    - `signs_urls`: reads the key that URLs for programs without a token are signed with (ADR 214)
    - `engine`: the state machine or its executions
    - `secrets`: reads the model providers' keys; `bedrock`: invokes the models on Bedrock that the environment
      allows
    - `load`: reads how much of the account's concurrency is in use
    - `tenant_functions`: invokes the functions behind tools of kind `lambda`, those of this environment
    - `asks_tool`: invokes `tool`, which does the work that needs the network or tenants' credentials (ADR 96)
    - `asks_itself`: invokes itself, which goes on with a part of its work (ADR 108)
    - `hands_over`: puts commits on the queue of those that become spans. `traces`: takes them from there, and reads the
      receiver's headers (`acta/infra/stream.py`)
    - `events`: the queues of the operator's event sources (`acta/infra/event_feeds.py`)
    - `notifications`: the stream, the queue and the receiver (`acta/infra/stream.py`)
    """

    by_tenant: bool = True
    table: frozenset[str] = frozenset()
    leases: bool = False
    deployment: frozenset[str] = frozenset()
    admission: frozenset[str] = frozenset()
    usage: frozenset[str] = frozenset()
    index: frozenset[str] = frozenset()
    open_index: bool = False
    files: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    tool_secrets: frozenset[str] = frozenset()
    receiver_secrets: frozenset[str] = frozenset()
    audit: frozenset[str] = frozenset()
    pseudonyms: bool = False
    signs_urls: bool = False
    engine: frozenset[str] = frozenset()
    secrets: bool = False
    bedrock: bool = False
    load: bool = False
    tenant_functions: bool = False
    asks_tool: bool = False
    asks_itself: bool = False
    events: bool = False
    notifications: bool = False
    hands_over: bool = False
    traces: bool = False


GRANTS: Mapping[FunctionName, Grants] = MappingProxyType(
    {
        # A message starts a run or answers the question that an execution waits for. A
        # question that expired may have ended the run, and then the execution is stopped.
        "start": Grants(
            table=COMMIT | CHANGE,
            leases=True,
            sessions=PUT,
            audit=PUT_RECORD,
            pseudonyms=True,
            engine=START | WAKE | STOP,
        ),
        # It records reads, where the environment wants that, and its log names whoever was refused, by pseudonym.
        "status": Grants(
            table=READ | GET_SEVERAL,
            leases=True,
            deployment=GET_ITEM,
            open_index=True,
            sessions=GET,
            audit=PUT_RECORD,
            pseudonyms=True,
        ),
        # It makes calls of the built-in tools for files and memories itself (ADR 57). It deletes no file. It records
        # checks of the providers' keys. The end of a child lets its siblings begin and wakes its parent; the end of a
        # parent cancels its children.
        "step": Grants(
            table=REMEMBER | CHANGE,
            leases=True,
            deployment=GET_ITEM,
            admission=COMMIT | CHANGE,
            files=PUT,
            sessions=PUT,
            audit=PUT_RECORD,
            pseudonyms=True,
            engine=START | WAKE | STOP,
            secrets=True,
            bedrock=True,
        ),
        # A call of an agent starts sessions.
        "tool": Grants(
            table=REMEMBER | CHANGE,
            files=EDIT,
            sessions=PUT,
            engine=START,
            tool_secrets=READ_SECRETS,
            signs_urls=True,
            tenant_functions=True,
        ),
        # A decision wakes the execution, a roll-over starts the next one, a cancel stops it. A deletion removes the
        # session's items and objects.
        "intervene": Grants(
            table=DELETE | CHANGE,
            leases=True,
            sessions=ERASE,
            audit=PUT_RECORD,
            pseudonyms=True,
            engine=START | WAKE | STOP,
        ),
        # Agents, tools, prompts and memories, written with the tenant's revision. All but prompts can be deleted. At a
        # deployment it stores the release's prompts. Admins read the audit trail.
        "admin": Grants(
            table=REMEMBER,
            leases=True,
            deployment=GET_ITEM | {"dynamodb:PutItem"},
            files=EDIT_EARLIER,
            tool_secrets=SET_SECRETS,
            receiver_secrets=SET_SECRETS,
            audit=PUT_RECORD | READ_RECORDS,
            pseudonyms=True,
            signs_urls=True,
            asks_tool=True,
        ),
        # The stream and the queue say which intervention or session changed. `notify` reads its present state from the
        # table; for a session that is over, it reads the newest commit.
        "notify": Grants(by_tenant=False, table=READ, notifications=True),
        # The stream says which commits there are. It reads their heads, and writes to tenants' usage alone (ADR 67).
        "usage": Grants(by_tenant=False, table=GET_SEVERAL, usage=COUNT, pseudonyms=True, hands_over=True),
        # Reads the commits that `usage` hands over, and writes nothing.
        "traces": Grants(by_tenant=False, table=frozenset({"dynamodb:BatchGetItem"}), traces=True),
        # Finds sessions of every tenant by the index, and starts their next execution or wakes it. Erases deleted
        # sessions once more. Starts the sessions of events that wait, and keeps a large event as a file. Starts the
        # sessions of schedules, and stops the execution of one that the next one cancels.
        "recover": Grants(
            by_tenant=False,
            table=RECOVER | CHANGE,
            index=frozenset({"dynamodb:Query"}),
            files=PUT,
            sessions=ERASE,
            engine=START | WAKE | STOP | LIST_EXECUTIONS,
            load=True,
            asks_itself=True,
        ),
        # Starts, shows, decides and cancels sessions by the routes of `start`, `status` and `intervene` (ADR 94). It
        # deletes nothing.
        "mcp": Grants(
            table=COMMIT | CHANGE | GET_SEVERAL,
            leases=True,
            deployment=GET_ITEM,
            open_index=True,
            sessions=PUT,
            audit=PUT_RECORD,
            pseudonyms=True,
            engine=START | WAKE | STOP,
        ),
        # Programs without a token and the operator's sources deliver events of triggers: it starts sessions and writes
        # to them as `start` does, keeps large events as files, and reads what webhooks are signed with.
        "wake": Grants(
            table=COMMIT | CHANGE,
            files=PUT,
            sessions=PUT,
            tool_secrets=READ_SECRETS,
            signs_urls=True,
            events=True,
            engine=START | WAKE | STOP,
        ),
        # These two answer without reading any data.
        "console": Grants(by_tenant=False),
        "fallback": Grants(by_tenant=False),
    }
)


def own_bedrock(own: Mapping[str, Mapping[str, Any]]) -> Mapping[frozenset[str], list[str]]:
    """Actions of Bedrock -> ARNs, for the providers of an environment that are asked with the role: of the models that
    they list, or of all. The ARNs have places for `partition` and `account`. `own`: `providers` of the environment.
    """
    arns: dict[frozenset[str], list[str]] = {}
    for row in own_providers(own).values():
        if not row.with_role:
            continue
        if "//bedrock-mantle." in (row.address or ""):
            arns.setdefault(ASK_MANTLE, []).append("arn:{partition}:bedrock-mantle:*:{account}:project/*")
            continue
        of_models = arns.setdefault(INVOKE_CLAUDE, [])
        for name in own[row.name].get("models") or ("*",):
            of_models.append(
                "arn:{partition}:bedrock:*::foundation-model/" + re.sub(GEOGRAPHY, "", name, count=1)
            )
            of_models.append("arn:{partition}:bedrock:*:{account}:inference-profile/" + name)
        if row.api != "converse":  # OpenAI's protocols are checked against the account's project, too
            of_models.append("arn:{partition}:bedrock:*:{account}:project/*")
    return {actions: list(dict.fromkeys(each)) for actions, each in arns.items()}


def gets(name: FunctionName, field: str) -> bool:
    """Whether this function gets the setting: every function does, those that the field names, or those whose grants
    allow what the setting is for.
    """
    grants = GRANTS[name]
    needs = {
        "audit_retention_days": bool(grants.audit),
        "tenant_limits": grants.leases or grants.table >= CHANGE,
    }
    return needs.get(field, True) and (field not in Settings.fields or Settings.fields[field].is_for(name))
