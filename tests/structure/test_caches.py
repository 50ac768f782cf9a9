"""Every cache in the sources is known. `docs/design/tenancy.md` has a table of those with something of a tenant in
them; everything else that looks like a cache is named here with the reason why nobody finds anything of another
tenant's in it. A new one has to be added to one of the two. Those of the table are played in
`tests/tenants/test_what_processes_keep.py`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("acta/engine", "acta/functions", "acta/tools", "acta/embedded")
EMPTY = {
    "OrderedDict",
    "defaultdict",
    "dict",
    "set",
    "list",
    "deque",
    "ContextVar",
    "CachedSecrets",
    "ProcessCache",
}
"""What is called to make something that is empty at first and is filled later."""

OF_THE_RELEASE = """
built_in as_typed_dict fields_of Api.handlers Api._arguments fields catalogue builtins settings
_versioned_fields left_out _options _counting _page ConsolePage._headers _react _offline _native NO_POLICIES
_asked_for _here _descriptions_of_aws _tools _is_shared _loop _http zone_names
LimitsByTenant._limits
"""
"""Computed from code, catalogue and settings, which are the same for every tenant."""
OF_A_VALUE = """
key_part validator_of _offered closed left_to_the_tool _wired condition update projection key_condition
"""
"""From a text to what was made of it: who finds something there has brought all of it along."""
CLIENTS = """
aws_client credentials_for_data credentials_for_secrets function_client _client client_that_repeats_nothing
_secrets
"""
"""Clients with the keys of the deployment. Those of DynamoDB, S3 and Secrets Manager sign each request for the tenant
that is bound."""
OF_THE_DEPLOYMENT = """
_ADDED secret_text OpenAIModel._known McpServers.eras Secrets._kept Admission._held Admission._buckets Admission._named
Admission._is_idle DynamoAdmission._seen Worker._apis Worker._apps ToolFolders._folders ToolFolders._tools
"""
"""Rows of models, secrets of the deployment and of folders of tools, what a model refuses, what a server speaks, the
rate of a provider's key: by model, URL, provider or name of the deployment's own."""
OF_ONE_PIECE_OF_WORK = """
_bound _left Api._event Change._events Change._entries Change._failed_attempts Change._interventions EndedTurns._kept
Session._segment_ends Session.entries Session.waiting Session.results Session._keys MessagesReplyBuilder._finished
MessagesReplyBuilder._blocks MessagesReplyBuilder._pieces ChatReplyBuilder._text
MessagesReplyBuilder._position_of ConverseReplyBuilder._blocks
ChatReplyBuilder._thinking ChatReplyBuilder._refusal _Call._pieces _Call.extra ChatReplyBuilder._calls
ChatReplyBuilder._position_of ResponsesReplyBuilder._items ResponsesReplyBuilder._earlier
EventReader._rest EventReader._data _Used._values
_Batch._additions _Batch._folds _Batch._rows S3Files._clients SharedPlaces._places SharedPlaces._furthest
Admitter._passed_over _Walk.references _Walk.words
Past._seen Process._driven ToolFolders._idle ToolFolders._used
"""
"""Parts of one session, request, reply or invocation, and gone with it. Idle processes of Python tools are kept by
the name of their environment, as Lambda keeps them."""


def is_empty(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List):
        return not value.elts
    made = value.func if isinstance(value, ast.Call) else None
    made = made.value if isinstance(made, ast.Subscript) else made  # as in ProcessCache[str](200)
    return isinstance(made, ast.Name) and made.id in EMPTY


def is_cached(function: ast.FunctionDef) -> bool:
    used = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    return any(isinstance(each, ast.Name) and each.id in ("cache", "lru_cache") for each in used)


def assigned(node: ast.AST) -> Iterator[ast.expr]:
    """What is given something empty, in a class's `__init__` or in a module."""
    if isinstance(node, ast.AnnAssign) and is_empty(node.value):
        yield node.target
    if isinstance(node, ast.Assign) and is_empty(node.value):
        yield node.targets[0]


def caches() -> Iterator[str]:
    """The names of everything that might keep something: `Class._attribute`, `function`, `CONSTANT`."""
    for path in (path for place in PLACES for path in sorted((ROOT / place).rglob("*.py"))):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for statement in module.body:
            yield from (each.id for each in assigned(statement) if isinstance(each, ast.Name))
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef) and is_cached(node):
                yield node.name
            if isinstance(node, ast.ClassDef):
                made = next((each for each in node.body if getattr(each, "name", "") == "__init__"), None)
                for inner in ast.walk(made) if made is not None else ():
                    targets = (each for each in assigned(inner) if isinstance(each, ast.Attribute))
                    yield from (f"{node.name}.{each.attr}" for each in targets)


def on_the_page() -> list[str]:
    text = (ROOT / "docs" / "design" / "tenancy.md").read_text(encoding="utf-8")
    _, _, section = text.partition("## What a process keeps")
    return re.findall(r"^\| [^|]+ \| `(\w+\.\w+)` \|", section, re.MULTILINE)


def test_every_cache_is_on_the_page_or_has_nothing_of_a_tenant() -> None:
    without = f"{OF_THE_RELEASE} {OF_A_VALUE} {CLIENTS} {OF_THE_DEPLOYMENT} {OF_ONE_PIECE_OF_WORK}".split()
    listed = [*on_the_page(), *without]
    assert sorted(listed) == sorted({*caches()} - {"ProcessCache._kept"}), (
        "each ProcessCache stands under who has it"
    )
