"""Checks a tool that an admin wants to add to the registry."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from acta.engine.egress.address import AddressGuard, AddressRefused
from acta.engine.settings import Settings
from acta.engine.tools.schema import BadPattern, check_patterns, left_to_the_tool
from acta.engine.tools.tenant.credentials import with_references
from acta.engine.tools.tenant.functions import FunctionGuard, FunctionRefused
from acta.engine.tools.tenant.headers import (
    PLAIN_NAMES,
    FieldRefused,
    as_servers_read,
    may_be_literal,
    reserved,
)
from acta.engine.tools.tenant.parameters import (
    check_parameters,
    fixed_names,
    in_path,
    sample_url,
    with_places,
)
from acta.engine.tools.tool import (
    HIDDEN,
    MAX_HEADERS,
    MAX_SCHEMA_BYTES,
    MAX_SCHEMA_DEPTH,
    HttpConfig,
    LambdaConfig,
)
from acta.engine.untrusted.exact_json import InvalidJson, refuse_oversize
from acta.engine.untrusted.schemas import BadReference, check_references, modern
from acta.engine.untrusted.validation_messages import error_sentence
from acta.engine.untrusted.visible import visible

NO_LITERAL = (
    "The values of these headers may be credentials, which are not stored with a tool: {names}. Store each with PUT "
    '/v1/tool-secrets/NAME or `acta tools secrets set NAME --host HOST`, and write {{"secret": "NAME"}} in its place. '
    "Plain text is for names such as {plain}, and values that do not look like a credential."
)

LONGEST = (
    "A call has at most {longest} seconds in this environment: `longest_tool_seconds`, which an operator raises with "
    "the timeout of the function `tool` (locally ACTA_LONGEST_TOOL_SECONDS)."
)

MAX_PROPERTY_CHARS = 200

Problems = dict[str, list[str]]
"""By field, sentences for the admin about what is wrong with it."""


class Unusable(Exception):
    """The tool cannot be used. The message names the fields."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(", ".join(problems))
        self.problems = problems


def to_config(
    kind: str, given: Mapping[str, Any], settings: Settings, tenant: str
) -> HttpConfig | LambdaConfig:
    """Validates the part of the definition that depends on the kind. Raises Unusable."""
    try:
        match kind:
            case "http":
                config = HttpConfig.model_validate(with_places(with_references(given)), strict=True)
                return _usable(config, AddressGuard(settings))
            case "lambda":
                called = LambdaConfig.model_validate(given, strict=True)
                FunctionGuard(settings).check(tenant, called.function)
                return called
    except ValidationError as error:
        problems: Problems = {}
        for each in error.errors(include_url=False, include_input=False):
            field = ".".join(["config", *(str(part) for part in each["loc"] if part != "[key]")])[:100]
            problems.setdefault(field, []).append(error_sentence(each))
        raise Unusable(problems) from None
    except FunctionRefused as refused:
        why = f"This function cannot be called: {refused.explained}"
        raise Unusable({"config.function": [why]}) from None
    except FieldRefused as refused:
        raise Unusable({refused.field: [str(refused)]}) from None
    raise Unusable({"kind": [f"Tools of kind {kind} are not supported yet; there are http and lambda."]})


def check_fixed(config: HttpConfig | LambdaConfig, schema: Mapping[str, Any]) -> None:
    """Raises Unusable where an argument cannot go where it is to go, or would be a field that the URL's query has
    fixed: every call would be refused.
    """
    if not isinstance(config, HttpConfig):
        return
    schema = modern(schema)
    problems = check_parameters(config, schema)
    if problems:
        raise Unusable(problems)
    others = set(schema.get("properties", ())) - config.parameters.keys() - set(in_path(config.url))
    taken = fixed_names(config.url, others)
    if taken:
        raise _wrong(
            f"The query of config.url fixes these fields: {', '.join(taken)}. Leave them out here or there."
        )


def check_timeout(seconds: int, longest: int) -> None:
    """Raises Unusable where this deployment cannot give a call that many seconds. `longest`: what it can give."""
    if seconds > longest:
        raise Unusable({"timeout_seconds": [LONGEST.format(longest=longest)]})


def check_schema(schema: Mapping[str, Any], *, is_checked_again: bool = False) -> None:
    """`is_checked_again`: the tool itself checks its input, too; a pattern that cannot be matched here is left to it.
    Raises Unusable unless this is the JSON Schema of an object, each reference leads to a schema inside it, and
    inputs can be checked by it in a limited amount of work.
    """
    from jsonschema import Draft202012Validator, FormatChecker, SchemaError

    text = json.dumps(schema)
    if len(text.encode()) > MAX_SCHEMA_BYTES:
        raise _wrong(f"The schema has more than {MAX_SCHEMA_BYTES:,} bytes.")
    try:  # also where no rule of JSON Schema looks: in defaults, examples and keywords that nobody knows
        refuse_oversize(text, depth=MAX_SCHEMA_DEPTH)
    except InvalidJson as invalid:
        raise _wrong(f"The schema is {invalid}.") from None
    if not is_checked_again and None in schema.values():
        raise _wrong("This is no JSON Schema: a keyword is null. Leave it out.")
    schema = modern(schema)
    kinds = schema.get("type", "object" if is_checked_again else None)
    if kinds != "object" and (not isinstance(kinds, list) or "object" not in kinds):
        raise _wrong('A tool\'s input is an object: the schema needs "type": "object".')
    try:
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
    except SchemaError as error:
        where = "/".join(str(part) for part in error.absolute_path)
        raise _wrong(f"This is no JSON Schema: {where or 'the whole'} breaks its rules.") from None
    except RecursionError:
        raise _wrong("The schema is nested too deeply.") from None
    names = schema.get("properties", ())
    if not all(
        0 < len(name) <= MAX_PROPERTY_CHARS and visible(name.strip(), keep_newlines=False) == name
        for name in names
    ):
        raise _wrong(
            f"Names of properties are 1 to {MAX_PROPERTY_CHARS} characters that people can see as they are."
        )
    if is_checked_again:
        schema = json.loads(left_to_the_tool(json.dumps(schema)))
    try:
        check_references(schema)
        check_patterns(schema)
    except (BadReference, BadPattern) as found:
        raise _wrong(str(found)) from None


def _usable(config: HttpConfig, guard: AddressGuard) -> HttpConfig:
    problems: Problems = {}
    try:
        guard.check(sample_url(config.url))
    except AddressRefused as refused:
        problems["config.url"] = [f"This URL cannot be used: {refused.explained}"]
    names = [*config.headers, *config.secret_headers]
    literal = sorted(name for name, value in config.headers.items() if not may_be_literal(name, value))
    if reserved(names):
        problems["config.headers"] = [f"These headers cannot be set: {', '.join(reserved(names))}."]
    elif len({as_servers_read(name) for name in names}) < len(names):
        problems["config.headers"] = ["A header is named twice."]
    elif len(names) > MAX_HEADERS:
        problems["config.headers"] = [f"There are at most {MAX_HEADERS} headers."]
    elif literal:
        problems["config.headers"] = [NO_LITERAL.format(names=", ".join(literal), plain=PLAIN_NAMES)]
    elif HIDDEN in config.headers.values():
        problems["config.headers"] = [
            f"{HIDDEN} stands for a value that is not shown. Give the value itself."
        ]
    if problems:
        raise Unusable(problems)
    return config


def _wrong(message: str) -> Unusable:
    return Unusable({"input_schema": [message]})
