"""No pattern of the sources takes work that grows faster than the text it meets.

The table names every pattern and the text that it is for. A pattern that is new has to be added to it, and so has a use
of a library that is known to be slow. The work is counted, not timed (`backtracking.py`).
"""

import importlib
from typing import NamedTuple

import pytest

from acta.engine.sessions import poll
from tests.growth.backtracking import MOST_STEPS, Growth, growth
from tests.growth.inventory import SLOW, Used, importers, patterns, texts, validated_by_rust

LINEAR = 1.45
"""The degree of growth that counts as linear between texts this short; twice as steep is about 1.7."""
SIZES = (12, 24)
"""Repetitions in the two texts that are compared."""
MOST_WORK = 1_000_000_000
"""Steps for the longest text that a pattern may meet, where they grow faster than it."""


class Met(NamedTuple):
    """`by`: the text that the pattern meets. `chars`: at most so many of it; None: any number, so the pattern has to be
    linear. `held`: the constant with the patterns, where they are looked up one after the other.
    """

    by: str
    chars: int | None = None
    held: str = ""


LLM = "acta/engine/models"
TABLE = {
    "acta/embedded/expressions.py _WORDS": Met("an expression of a store"),
    "acta/engine/aws/tenant_credentials.py session_name": Met("a tenant's name, from a checked claim"),
    f"{LLM}/errors.py _WORD_BOUNDARY": Met("the name of an error of AWS"),
    f"{LLM}/calls.py _BEDROCK": Met("the host of a provider's URL, from a setting"),
    f"{LLM}/converse.py _CACHES": Met("a model's name"),
    f"{LLM}/own_providers.py NAMES": Met("the name of a secret, from a setting"),
    f"{LLM}/own_providers.py PROVIDER_PATTERN": Met("the name of a provider, from a setting"),
    f"{LLM}/calls.py _HEADER_VALUE": Met("a provider's key, from a secret"),
    f"{LLM}/wire.py _NOT_IN_NAMES": Met("names of tools that a model made up"),
    f"{LLM}/wire.py _PLAIN_NAME": Met("names of properties in tools' schemas"),
    f"{LLM}/errors.py _NAME": Met("names in a provider's error"),
    f"{LLM}/errors.py _PASSED_ON": Met("the words of a provider's error"),
    f"{LLM}/errors.py _QUOTED": Met("the words of a provider's error", 1_000),
    f"{LLM}/openai/client.py _named_parameter": Met("the words of a server's error"),
    f"{LLM}/errors.py _REQUEST_ID": Met("the id in a provider's error"),
    f"{LLM}/offline.py _CREATE": Met("a goal"),
    f"{LLM}/offline.py _ON_A_FILE": Met("a goal"),
    f"{LLM}/offline.py _TO_A_FILE": Met("a goal"),
    f"{LLM}/offline.py _USE": Met("a goal"),
    f"{LLM}/offline.py _ASKED": Met("a goal"),
    f"{LLM}/offline.py _WITHOUT_TEXT": Met("a goal"),
    f"{LLM}/offline.py _files": Met("a line of a listing"),
    f"{LLM}/offline.py _found": Met("a listing"),
    f"{LLM}/offline.py _listing_goal": Met("a goal"),
    f"{LLM}/offline.py _reply": Met("a goal"),
    f"{LLM}/offline.py _summary": Met("a file's text"),
    "acta/engine/schedules/schedule.py _PLACE": Met("the goal of a schedule", 10_000),
    "acta/engine/schedules/times.py EVERY": Met("a rate in a request", 40),
    "acta/engine/turn/announcement.py _OPENER": Met("a short reply of a model", 300),
    "acta/engine/turn/announcement.py _INTENT": Met("a short reply of a model", 300),
    "acta/engine/turn/announcement.py _HELD_BACK": Met("a short reply of a model", 300),
    "acta/engine/turn/announcement.py _CALL": Met("a model's reply"),
    "acta/engine/turn/announcement.py _BETWEEN_SENTENCES": Met("a short reply of a model", 300),
    "acta/engine/untrusted/exact_json.py _BRACKET": Met("a model's answer"),
    "acta/engine/untrusted/exact_json.py _WORDS_IN_BRACKETS": Met("a model's answer"),
    "acta/engine/untrusted/encodings.py _CHARSET": Met("the Content-Type of an answer"),
    "acta/engine/untrusted/encodings.py _IN_MARKUP": Met("the beginning of a file or an answer", 1_024),
    "acta/engine/untrusted/encodings.py _IN_SOURCE": Met("two lines of a file or an answer", 1_024),
    "acta/engine/untrusted/exact_json.py refuse_oversize": Met("a body, a model's JSON"),
    "acta/engine/untrusted/path.py ENCODED": Met("a path in a request or of a model"),
    "acta/engine/untrusted/path.py CONTROL": Met("a path in a request or of a model"),
    "acta/engine/untrusted/path.py _OWNERS_FOLDER": Met("where a backup says that a file was stored"),
    "acta/engine/untrusted/visible.py IN_PROSE": Met("a text of a model, a file, a person"),
    "acta/engine/untrusted/visible.py IN_DATA": Met("a path, a call's input"),
    "acta/tools/path.py ENCODED": Met("a path that a tool uses"),
    "acta/tools/path.py CONTROL": Met("a path that a tool uses"),
    "acta/tools/path.py IN_DATA": Met("a path that a tool uses"),
    "acta/engine/untrusted/own_files.py NAME": Met("a name that a deployment gives a file", 255),
    "acta/engine/untrusted/quoting.py unquoted": Met("the first line of a result"),
    f"{LLM}/anthropic/request.py _UP_TO_CLAUDE_5": Met("names of models"),
    f"{LLM}/anthropic/request.py _SONNET_5_5": Met("names of models"),
    f"{LLM}/openai/capabilities.py _REASONS_ALWAYS": Met("names of models"),
    f"{LLM}/openai/capabilities.py _REASONS_BY_DEFAULT": Met("names of models"),
    f"{LLM}/openai/capabilities.py _REASONING": Met("names of models"),
    f"{LLM}/openai/capabilities.py _ONE_EFFORT": Met("names of models"),
    f"{LLM}/openai/capabilities.py _CACHES_AT_BREAKPOINTS": Met("names of models"),
    "acta/engine/turn/output_schema.py _is_pattern": Met("a pattern in a schema of answers"),
    "acta/engine/turn/compaction.py EARLIER_LEFT_OUT": Met("a person's message"),
    "acta/engine/turn/final_answer.py _CLOSED": Met("a model's reply"),
    "acta/engine/turn/final_answer.py _CODE_BLOCK": Met("a model's reply"),
    "acta/engine/turn/final_answer.py FENCE": Met("a model's reply"),
    "acta/engine/turn/final_answer.py _MARKED": Met("a line of a model's reply"),
    "acta/engine/turn/final_answer.py _NOT_YET": Met("a line of a model's reply"),
    "acta/engine/turn/final_answer.py _OPENED": Met("a model's reply"),
    "acta/engine/turn/final_answer.py _STOP": Met("a line of a model's reply"),
    "acta/engine/turn/final_answer.py _TOKEN": Met("a line of a model's reply"),
    "acta/engine/turn/final_answer.py _TOKENS_AFTER": Met("a model's reply"),
    "acta/engine/turn/final_answer.py _TOKENS_BEFORE": Met("a model's reply"),
    "acta/engine/tools/mcp/routes.py SERVER_NAME_PATTERN": Met("the name of an MCP server, in a path"),
    "acta/engine/triggers/routes.py TRIGGER_ID_PATTERN": Met("the id of a trigger, in a path"),
    "acta/engine/triggers/trigger.py _PLACE": Met("an admin's template"),
    "acta/engine/tools/mcp/oauth.py _METADATA": Met("a header of an MCP server"),
    "acta/engine/tools/mcp/oauth.py _SCOPE": Met("a header of an MCP server"),
    "acta/engine/tools/mcp/oauth.py _SHOWN_URL": Met("the metadata of an authorization server"),
    "acta/engine/tools/mcp/oauth.py _TOKEN": Met("the answer of an authorization server"),
    "acta/engine/tools/mcp/schema_words.py _FORMAT": Met("a format in an MCP server's schema"),
    "acta/engine/tools/mcp/servers.py _MARKS": Met("a list of an MCP server's tools"),
    "acta/engine/tools/mcp/exchange.py _TOKEN": Met("a mark in an MCP server's schema"),
    "acta/engine/tools/schema.py _ESCAPES": Met("a pattern in a tenant's schema"),
    "acta/engine/untrusted/schemas.py _DRAFT": Met("the dialect that a server's schema names"),
    "acta/engine/tools/tenant/credentials.py _ESCAPE": Met("the answer of a tool's server"),
    "acta/engine/tools/tenant/credentials.py _parts": Met("a secret of a tenant's tools"),
    "acta/engine/tools/tenant/parameters.py PROPERTY": Met("names in a tenant's schema and in arguments"),
    "acta/engine/tools/tenant/parameters.py _VARIABLE": Met("the URL of a tool"),
    "acta/engine/tools/tenant/parameters.py _SEPARATORS": Met("the query of a tool's URL"),
    "acta/engine/sessions/history.py _CURSOR": Met("a query parameter"),
    "acta/engine/sessions/poll.py _CURSOR": Met("a query parameter"),
    "acta/engine/api/arguments.py TAGS": Met("a request's header"),
    "acta/engine/api/arguments.py _PATH_VARIABLE": Met("a variable of a request's path"),
    "acta/engine/api/identity.py TENANT_PATTERN": Met("a claim"),
    "acta/engine/triggers/sources.py TENANT_PATTERN": Met("a part of an event or of a key"),
    "acta/engine/api/etag.py _TAG": Met("a request's header"),
    "acta/engine/memories/memory.py _WORD": Met("goals, queries and memories"),
    "acta/engine/models/providers.py _AROUND": Met("names of models"),
    "acta/engine/models/providers.py is_model_of": Met("names of models", held="_MODEL_NAMES"),
    "acta/engine/turn/next_action.py ends_with_question": Met("a model's reply"),
    "acta/engine/models/providers.py _SNAPSHOT": Met("names of models"),
    "acta/engine/settings.py FUNCTION_PATTERN": Met("a setting of the deployment"),
    "acta/engine/settings.py ROLE_PATTERN": Met("a setting of the deployment"),
    "acta/engine/settings.py read": Met("a setting of the deployment", held="PATTERNS"),
    "acta/engine/tools/tool.py ROLE_PATTERN": Met("what an operator wrote"),
    "acta/engine/subagents/tool.py TOOL_NAME_PATTERN": Met("what an admin calls a tool", 64),
    "acta/engine/tools/tool.py TOOL_NAME_PATTERN": Met("what an operator wrote"),
    "acta/cli/sign_in.py check_member": Met("an argument of the command line", held="MEMBER_RULES"),
    "acta/client/sign_in/store.py ENVIRONMENT_PATTERN": Met("the name of an environment"),
    "acta/cli/connection.py FULL": Met("an argument of the command line"),
    "acta/cli/apply/folder.py NAME": Met("the name of a set"),
    "acta/cli/apply/folder.py _definition": Met("the name of a file", held="PATTERNS"),
    "acta/cli/local/new_tool.py FOLDER_PATTERN": Met("an argument of the command line"),
    "acta/cli/local_stack.py ROLE_PATTERN": Met("an argument of the command line"),
    "acta/tools/define.py NAME_PATTERN": Met("a name in a person's own tools"),
    "acta/cli/operations/repair.py ago": Met("an argument of the command line"),
}
FOUND = {used.key: used for used in patterns()}


def test_every_pattern_of_the_sources_is_in_the_table_and_nothing_else_is() -> None:
    assert sorted(FOUND) == sorted(TABLE)


@pytest.mark.parametrize("key", sorted(TABLE))
def test_the_work_of_a_pattern_grows_with_the_text_and_no_faster(key: str) -> None:
    used, met = FOUND[key], TABLE[key]
    for pattern in _patterns(used, met):
        found = growth(pattern, used.flags, used.use, SIZES)
        if met.chars is None:
            assert found.degree <= LINEAR, found
        assert found.steps < MOST_STEPS
        assert _expected(found, met.chars or 0) <= MOST_WORK


def _patterns(used: Used, met: Met) -> list[str]:
    if used.pattern is not None:
        return [used.pattern]
    module = importlib.import_module(used.path.removesuffix(".py").replace("/", "."))
    held = getattr(module, met.held)
    return list(held.values()) if isinstance(held, dict) else [pattern for pattern, _ in held]


def _expected(found: Growth, chars: int) -> float:
    """Steps for a text of so many characters, of which one repetition has one at least."""
    growing: float = (chars / SIZES[1]) ** max(found.degree, 1.0)
    return found.steps * growing


ON_SCREEN = {"difflib": ["acta/cli/apply/apply.py"]}
"""Lines of one definition, which the API bounds, compared on its admin's own machine."""


def test_patterns_are_compiled_where_the_inventory_sees_them() -> None:
    """By `re.name(…)`, and never by a name imported from it."""
    assert [path for path, text in texts() if "from re import" in text] == []
    assert importers(SLOW) == ON_SCREEN


def test_patterns_of_fields_are_matched_by_rust_which_is_linear() -> None:
    assert validated_by_rust()
    assert [path for path, text in texts() if "regex_engine" in text] == []


SLOW_ONES = {
    "nested": (r"(a+)+$", "at one place"),
    "the quotation's marks of earlier releases": (
        r"[-‐-―−]{2,}\s*(?:end\s+of\s|[a-z]{2,16}\s*:)",
        "anywhere",
    ),
    "spaces at the end": (r"\s+$", "anywhere"),
    "two neighbours": (r"\d*\d*x", "at one place"),
    "a lazy middle": (r"\s{0,3}#{1,6}\s+(.+?)\s*#*\s*", "at one place"),
    "a quotation that does not end": (r"“[^”]*”", "anywhere"),
}


@pytest.mark.parametrize("name", SLOW_ONES)
def test_a_slow_pattern_is_seen(name: str) -> None:
    pattern, use = SLOW_ONES[name]
    found = growth(pattern, 0, "anywhere" if use == "anywhere" else "at one place", SIZES)
    assert found.degree > LINEAR or found.steps >= MOST_STEPS


def test_a_pattern_that_stands_in_no_table_would_be_found() -> None:
    rooms = {path.split("/")[1] for path, _ in texts()}
    assert {"cli", "client", "engine", "functions", "testing", "tools"} <= rooms
    assert FOUND["acta/engine/sessions/poll.py _CURSOR"].pattern == poll._CURSOR.pattern
