"""What each function may do, and nothing else: the one table the roles are made from.

Several writers of one session share these rows, so a new call of an adapter that is not allowed here fails as
`AccessDenied`, not silently. Transactions need no action of their own: DynamoDB checks the ones inside.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from infra.environments import FunctionName

TENANT_FUNCTIONS = "acta-tool-*"
"""Names of the functions a tenant's tool may be; none of Acta's own is called like that."""
FILES = "files/*"
"""Keys of what users and the file tools see: `files/{tenant}/{path}`."""
SESSIONS = "sessions/*"
"""Keys of sessions' content-addressed blobs: `sessions/{tenant}/{session}/{hash}`."""

READ = frozenset({"dynamodb:GetItem", "dynamodb:Query"})
COMMIT = READ | {"dynamodb:PutItem"}
"""A commit is a put under a free number, alone or in a transaction of puts."""
DELETE = COMMIT | {"dynamodb:BatchWriteItem"}
REMEMBER = COMMIT | {"dynamodb:DeleteItem"}
"""At an agent's bound an older memory makes room for the new one."""

GET = frozenset({"s3:GetObject"})
PUT = GET | {"s3:PutObject"}
EDIT = PUT | {"s3:DeleteObject"}

INVOKE_CLAUDE = frozenset({"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"})
CLAUDE_MODELS = "foundation-model/anthropic.claude-*"
"""Claude alone, because the adapter writes its wire format. In every region: a cross-region inference profile passes a
request on to models of other regions, and both the profile and the model have to be allowed."""
CLAUDE_PROFILES = "inference-profile/*.anthropic.claude-*"

# Starting twice asks whether the first one still runs.
START = frozenset({"states:StartExecution", "states:DescribeExecution"})
WAKE = frozenset({"states:SendTaskSuccess"})
STOP = frozenset({"states:StopExecution"})

LIST = frozenset({"states:ListExecutions"})

ON_EXECUTIONS = frozenset({"states:DescribeExecution", "states:StopExecution"})
"""Engine actions whose resource is an execution, not the state machine."""


@dataclass(frozen=True)
class Grants:
    """IAM actions per thing. `files` and `sessions` are object keys, and who may read them may list them: without
    that S3 answers a missing key with 403, not 404. `index` is that of the live sessions; `engine` acts on the state
    machine or its executions; `secrets` are the model providers' keys, `bedrock` Claude without one;
    `tenant_functions` the functions behind tools of kind `lambda`; `notifications` are the stream, the queue
    and whoever is told (`infra/notifications.py`).
    """

    table: frozenset[str] = frozenset()
    index: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    engine: frozenset[str] = frozenset()
    secrets: bool = False
    bedrock: bool = False
    tenant_functions: bool = False
    notifications: bool = False


GRANTS: Mapping[FunctionName, Grants] = MappingProxyType(
    {
        # Who writes a session's blobs may remove them: a worker that was later than a deletion cleans up behind itself.
        # A message starts a run, or answers the question an execution waits for; one that expired may have ended it.
        "start": Grants(table=COMMIT, sessions=EDIT, engine=START | WAKE | STOP),
        "status": Grants(table=READ, sessions=GET),
        "step": Grants(table=REMEMBER, sessions=EDIT, secrets=True, bedrock=True),
        "tool": Grants(table=REMEMBER, files=EDIT, sessions=EDIT, tenant_functions=True),
        # Decisions wake the execution, roll-over starts the next one, cancel stops it, deletion empties a session.
        "intervene": Grants(table=DELETE, sessions=EDIT, engine=START | WAKE | STOP),
        # Agents, tools, prompts, memories: written with their tenant's revision, all but prompts also deleted.
        "admin": Grants(table=REMEMBER, files=EDIT),
        # What changed comes by the stream, and again by the queue; how it is now is read.
        "notify": Grants(table=frozenset({"dynamodb:GetItem"}), notifications=True),
        # Sessions of every tenant, found by the index alone, are started again or woken.
        "recover": Grants(
            table=COMMIT, index=frozenset({"dynamodb:Query"}), sessions=EDIT, engine=START | WAKE | LIST
        ),
    }
)
