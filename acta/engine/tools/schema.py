"""Checks values against JSON Schemas of every dialect, in a limited amount of work (ADR 53): a call's input against its
tool's schema, and a session's final answer against the session's.

A schema of 16 KB can ask for more evaluations than there are atoms: references that fan out, alternatives of
alternatives. So the work of the package `jsonschema` is counted. Every evaluated schema, every keyword with the values
it looks through, and every message costs units of work; a unit takes a few microseconds. Units are counted, not time,
so the same input always gets the same verdict. We check seven keywords ourselves: six because the package gives them
to Python's `re` or compares each item with every other, and `multipleOf` because the package divides doubles. We also
check the schema `false`, because the package's message quotes the value, uncounted inside `anyOf`.

References are followed, and the schemas that apply to one value are counted, when an admin writes the schema
(`check_references` in `untrusted/schemas.py`). Otherwise a wrong reference would be noticed only by the first input
that needs it.

RE2 matches patterns, in time that grows with the text and with the pattern's program; Python's `re` takes exponential
time for some. Both packages are imported at the first check, and each schema is compiled once per process.
"""

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache, lru_cache, wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from acta.engine.errors import ToolInputInvalid
from acta.engine.tools.mcp.server import McpTool
from acta.engine.tools.tool import ToolSpec
from acta.engine.untrusted.exact_json import InvalidJson, canonical_json, parse_value, refuse_oversize
from acta.engine.untrusted.quoting import clipped_name
from acta.engine.untrusted.schemas import ABSENT, modern, schemas_in
from acta.engine.untrusted.visible import visible

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator


MOST_WORK = 200_000


class TooMuchWork(Exception):
    """The check was given up."""


class Left:
    """The units of work that are left."""

    def __init__(self, units: int) -> None:
        self.units = units


_left: ContextVar[Left] = ContextVar("work that is left")


@contextmanager
def limited_work(units: int = MOST_WORK) -> Iterator[Left]:
    """Limits the work inside the `with` block to so many units, and yields what is left of them. Where Python's stack
    ends, RecursionError is raised, also from within the validator's maps: they are written in Rust, and panic there.
    """
    left = Left(units)
    token = _left.set(left)
    try:
        yield left
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise RecursionError from None
        raise
    finally:
        _left.reset(token)


def spend(units: int) -> None:
    """Raises TooMuchWork where no more is left. Raises LookupError outside `limited_work`: nothing bounds the work."""
    left = _left.get()
    left.units -= units
    if left.units < 0:
        raise TooMuchWork


MAX_MEMORY = 1 << 18
"""Bytes that one compiled pattern may take."""
STEPS_A_UNIT = 2_000
"""Characters times instructions that count as one unit of work."""
ALLOWED = (
    "Patterns are those of RE2: no back-reference, no repetition above 1,000, and look-ahead only right behind the "
    "first ^. Leave the pattern out, and say the rule in the field's description."
)


class BadPattern(Exception):
    """The message is a sentence for the admin who wrote the schema."""


_ESCAPES = re.compile(r"\\\\|\\u\{([0-9A-Fa-f]{1,6})\}|\\u([0-9A-Fa-f]{4})(?:\\u([0-9A-Fa-f]{4}))?")


class Pattern(NamedTuple):
    """`matchers`: RE2's, each with whether it has to be found. `instructions`: of their programs."""

    matchers: tuple[tuple[Any, bool], ...]
    instructions: int

    def found_in(self, text: str) -> bool:
        """Raises TooMuchWork."""
        spend(1 + len(text) * self.instructions // STEPS_A_UNIT)
        return all((matcher.search(text) is not None) is wanted for matcher, wanted in self.matchers)


def compiled(pattern: str) -> Pattern:
    """Raises BadPattern. RE2's own cache keeps what was compiled."""
    import re2

    try:
        matchers = [(re2.compile(_for_re2(one), _options()), wanted) for one, wanted in _look_aheads(pattern)]
    except (re2.error, UnicodeEncodeError):
        matchers = []
    if not matchers:
        raise BadPattern(f'The pattern "{clipped_name(pattern, 80)}" cannot be used. {ALLOWED}')
    return Pattern(tuple(matchers), sum(matcher.programsize for matcher, _ in matchers))


def check_patterns(schema: Mapping[str, Any]) -> None:
    """Raises BadPattern for a pattern that cannot be used. `schema`: valid by the rules of JSON Schema."""
    for here in schemas_in(schema):
        for pattern in (
            *here.get("patternProperties", ()),
            *([here["pattern"]] if "pattern" in here else ()),
        ):
            compiled(pattern)


def _look_aheads(pattern: str) -> list[tuple[str, bool]]:
    """Patterns that together mean the same as this one, each with whether a text has to match it or must not. RE2 has
    no look-ahead, but one right behind the first `^` is a pattern of its own; zod's pattern for e-mail addresses and
    rules for passwords have such. Empty: the pattern's brackets do not match.
    """
    ends, has_choice, open_at, is_class, at = dict[int, int](), False, list[int](), False, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif is_class:
            is_class = char != "]"
        elif char == "[":
            is_class = True
        elif char == "(":
            open_at.append(at)
        elif char == ")":
            ends[open_at.pop() if open_at else -1] = at
        has_choice |= char == "|" and not open_at and not is_class
        at += 1
    if open_at or is_class or -1 in ends:
        return []
    pieces, at = list[tuple[str, bool]](), 1
    while pattern.startswith("^") and not has_choice and pattern.startswith(("(?=", "(?!"), at):
        pieces.append((f"^(?:{pattern[at + 3 : ends[at]]})", pattern[at + 2] == "="))
        at = ends[at] + 1
    is_repeated = pieces and pattern[at : at + 1] in ("*", "+", "?", "{")
    return [(pattern, True)] if is_repeated or not pieces else [*pieces, (f"^{pattern[at:]}", True)]


def _for_re2(pattern: str) -> str:
    """JSON Schema's `\\u00e9`, `\\ud83d\\ude00` and `\\u{1f600}` are `\\x{…}` in RE2."""

    def escape(at: re.Match[str]) -> str:
        codes = [int(code, 16) for code in at.groups() if code]
        if len(codes) == 2 and 0xD800 <= codes[0] < 0xDC00 <= codes[1] < 0xE000:
            codes = [0x10000 + (codes[0] - 0xD800) * 0x400 + codes[1] - 0xDC00]
        return "".join(f"\\x{{{code:x}}}" for code in codes) or at[0]

    return _ESCAPES.sub(escape, pattern)


@cache
def _options() -> Any:
    import re2

    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    return options


Keyword = Callable[[Any, Any, Any, Any], "Iterable[ValidationError] | None"]
UNITS_A_MESSAGE = 20
"""What one message costs, because all messages are kept until the check is over."""
MESSAGE_CHARS_A_UNIT = 200
"""How many characters cost one unit. A message quotes the wrong value, which may be long."""
MAX_MESSAGE_CHARS = 200
"""No more is kept of a message, because no more is shown."""


@lru_cache(maxsize=256)
def validator_of(schema: str) -> "Validator":
    """`schema`: as JSON."""
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    parsed = modern(json.loads(schema))
    registry: Any = Registry().with_resource("", DRAFT202012.create_resource(parsed)).crawl()
    made: Validator = _counting()(parsed, registry=registry, _resolver=registry.resolver(""))
    return made


@cache
def _counting() -> Any:
    """The class of validators that count."""
    from jsonschema import Draft202012Validator, validators

    create: Any = validators.create
    own: dict[str, Keyword] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "unevaluatedItems": _unevaluated_items,
        "unevaluatedProperties": _unevaluated_properties,
        "uniqueItems": _unique_items,
        "multipleOf": _multiple_of,
    }
    keywords = {**Draft202012Validator.VALIDATORS, **own}
    made = create(
        meta_schema=Draft202012Validator.META_SCHEMA,
        validators={name: _counted(name, keyword) for name, keyword in keywords.items()},
        type_checker=Draft202012Validator.TYPE_CHECKER,
        id_of=Draft202012Validator.ID_OF,
        applicable_validators=_applicable,
    )
    descend, iter_errors = made.descend, made.iter_errors

    # The package's methods, but for the schema `false`.
    def counting_descend(
        self: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, resolver: Any = None
    ) -> Any:
        if schema is False:
            return _nothing_allowed(instance, () if path is None else (path,))
        return descend(self, instance, schema, path, schema_path, resolver)

    def counting_iter_errors(self: Any, instance: Any) -> Any:
        return _nothing_allowed(instance, ()) if self.schema is False else iter_errors(self, instance)

    made.descend, made.iter_errors = counting_descend, counting_iter_errors
    return made


def _nothing_allowed(instance: Any, path: tuple[str | int, ...]) -> "Iterator[ValidationError]":
    spend(UNITS_A_MESSAGE)
    yield _error("no value is allowed", path=path, instance=instance, schema=False)


def _applicable(schema: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    spend(1 + len(schema))
    return schema.items()


def _counted(name: str, keyword: Keyword) -> Keyword:
    @wraps(keyword)
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> "Iterator[ValidationError]":
        spend(_cost(name, value, instance))
        for error in keyword(validator, value, instance, schema) or ():
            spend(UNITS_A_MESSAGE + len(error.message) // MESSAGE_CHARS_A_UNIT)
            if len(error.message) > MAX_MESSAGE_CHARS:
                error.message = error.message[:MAX_MESSAGE_CHARS]
                error.args = (error.message,)  # the whole message stands in them, too
            yield error

    return counted


def _cost(name: str, value: Any, instance: Any) -> int:
    """The units of one keyword: what it looks through itself. Schemas below it cost by themselves."""
    if name in ("const", "enum", "dependentRequired"):
        return nodes(value)
    if name == "uniqueItems":
        return nodes(instance, texts=True)
    parts = value.count("/") if isinstance(value, str) else _length(value)  # of a reference, or inside
    return 1 + parts + _length(instance)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, dict | list) else 0


def nodes(value: Any, *, texts: bool = False) -> int:
    """How many values a JSON value has, itself included. `texts`: a long text and a long name count as several."""
    count, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        count += 1
        if texts and isinstance(item, str):
            count += len(item) // MESSAGE_CHARS_A_UNIT
        if isinstance(item, dict):
            waiting += item.values()
            count += sum(len(name) // MESSAGE_CHARS_A_UNIT for name in item) if texts else 0
        elif isinstance(item, list):
            waiting += item
    return count


def _pattern(validator: Any, value: str, instance: Any, schema: Any) -> "Iterator[ValidationError]":
    if isinstance(instance, str) and not compiled(value).found_in(instance):
        yield _error(f"the text does not match {value!r}")


def _pattern_properties(
    validator: Any, value: Mapping[str, Any], instance: Any, schema: Any
) -> "Iterator[ValidationError]":
    if not isinstance(instance, dict):
        return
    for pattern, inner in value.items():
        found = compiled(pattern)
        for name, each in instance.items():
            if found.found_in(name):
                yield from validator.descend(each, inner, path=name, schema_path=pattern)


def _has_pattern(schema: Mapping[str, Any], name: str) -> bool:
    """Whether one of `patternProperties` is for the name."""
    return any(compiled(pattern).found_in(name) for pattern in schema.get("patternProperties", {}))


def _additional_properties(
    validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]
) -> "Iterator[ValidationError]":
    if not isinstance(instance, dict):
        return
    known = schema.get("properties", {})
    others = [name for name in instance if name not in known and not _has_pattern(schema, name)]
    if value is False and others:
        yield _error(f"{len(others)} fields are not known, {others[0]!r} among them")
    elif value is not False:
        for name in others:
            yield from validator.descend(instance[name], value, path=name)


def _unevaluated_properties(
    validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]
) -> "Iterator[ValidationError]":
    if isinstance(instance, dict) and (wrong := instance.keys() - _evaluated(validator, instance, schema)):
        first = next(name for name in instance if name in wrong)
        yield _error(f"{len(wrong)} fields are not known, {first!r} among them")


def _unevaluated_items(
    validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]
) -> "Iterator[ValidationError]":
    if isinstance(instance, list):
        wrong = sorted(set(range(len(instance))) - _evaluated(validator, instance, schema))
        if wrong:
            yield _error(f"{len(wrong)} items are not allowed, the one at {wrong[0]} among them")


def _evaluated(validator: Any, instance: Any, schema: Any) -> set[Any]:
    """The names of an object's fields, or the places of an array's items, of which this schema says something, or one
    that applies to the same value and holds. What `unevaluatedProperties` and `unevaluatedItems` allow is among them.
    """
    if not isinstance(schema, dict):
        return set()
    spend(1 + len(schema) + len(instance))
    named = _evaluated_fields if isinstance(instance, dict) else _evaluated_items
    found = named(validator, instance, schema)
    if "$ref" in schema:
        spend(_cost("$ref", schema["$ref"], instance))
        found |= _evaluated(validator, instance, validator._resolver.lookup(schema["$ref"]).contents)
    for each in _that_hold(validator, instance, schema):
        found |= _evaluated(validator, instance, each)
    return found


def _evaluated_fields(validator: Any, instance: Mapping[str, Any], schema: Mapping[str, Any]) -> set[Any]:
    names: set[str] = instance.keys() & schema.get("properties", {}).keys()
    names |= {name for name in instance if _has_pattern(schema, name)}
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in schema:
            names |= {name for name, each in instance.items() if _holds(validator, each, schema[keyword])}
    return names


def _evaluated_items(validator: Any, instance: list[Any], schema: Mapping[str, Any]) -> set[Any]:
    if "items" in schema:
        return set(range(len(instance)))
    places = set(range(min(len(schema.get("prefixItems", ())), len(instance))))
    for keyword in ("contains", "unevaluatedItems"):
        if keyword in schema:
            places |= {
                place for place, each in enumerate(instance) if _holds(validator, each, schema[keyword])
            }
    return places


def _that_hold(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas inside that apply to the same value and hold."""
    if isinstance(instance, dict):
        yield from (inner for name, inner in schema.get("dependentSchemas", {}).items() if name in instance)
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from (inner for inner in schema.get(keyword, ()) if _holds(validator, instance, inner))
    if "if" in schema:
        holds = _holds(validator, instance, schema["if"])
        followed = ("if", "then") if holds else ("else",)
        yield from (schema[keyword] for keyword in followed if keyword in schema)


def _holds(validator: Any, instance: Any, schema: Any) -> bool:
    return schema if isinstance(schema, bool) else next(validator.descend(instance, schema), None) is None


def _unique_items(validator: Any, value: Any, instance: Any, schema: Any) -> "Iterator[ValidationError]":
    if value is True and isinstance(instance, list):
        texts = [json.dumps(_comparable(item), sort_keys=True) for item in instance]
        if len(set(texts)) < len(texts):
            yield _error("the items are not all different")


def _multiple_of(validator: Any, value: Any, instance: Any, schema: Any) -> "Iterator[ValidationError]":
    """In the digits that both numbers have: as doubles, 19.99 is no multiple of 0.01."""
    if validator.is_type(instance, "number") and Fraction(str(instance)) % Fraction(str(value)):
        yield _error(f"{instance} is not a multiple of {value}")


def _comparable(value: Any) -> Any:
    """Equal values of JSON become equal texts: 1 and 1.0 are one number."""
    if isinstance(value, dict):
        return {key: _comparable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_comparable(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _error(message: str, **about: Any) -> "ValidationError":
    from jsonschema import ValidationError

    return ValidationError(message, **about)


MAX_PROBLEMS = 5
"""Problems named in one message. More of them do not help a model."""
MAX_PROBLEM_CHARS = 200


def check_input(spec: ToolSpec, arguments: Mapping[str, Any]) -> None:
    """Raises ToolInputInvalid. The message says which fields are wrong and why, and which fields there are."""
    try:
        errors = errors_of(_schema_of(spec), dict(arguments))
    except RecursionError:
        raise ToolInputInvalid(f"the input of {spec.name} is nested too deeply. Make it flatter.") from None
    except BadPattern as bad:
        raise ToolInputInvalid(
            f"no input of {spec.name} can be checked: an admin has to change the tool's input_schema. {bad} Tell the "
            "user, or try another way."
        ) from None
    except TooMuchWork:
        raise ToolInputInvalid(
            f"checking the input of {spec.name} takes too much work. Send a smaller one. If that is no help, an admin "
            "has to make the tool's input_schema simpler; tell the user, or try another way."
        ) from None
    except Exception:
        # The validator itself fails at numbers that it cannot divide.
        raise ToolInputInvalid(
            f"the input of {spec.name} cannot be checked against its schema. Try other values, or another way."
        ) from None
    if not errors:
        return
    words = Words("the input", "the tool", is_quoted=isinstance(spec, McpTool))
    problems = problems_of(errors, words)
    raise ToolInputInvalid(
        f"the input does not fit {spec.name}: {problems}. {_fields(modern(spec.input_schema))}"
    )


def _schema_of(spec: ToolSpec) -> str:
    own = spec.own_schema if isinstance(spec, McpTool) else spec.input_schema
    text = json.dumps(own, sort_keys=True)
    match spec.kind:
        case "http" | "lambda":
            return closed(text)
        case "mcp":
            return closed(left_to_the_tool(text))
        case "python":
            return left_to_the_tool(text)
    return text


def errors_of(schema: str, value: Any) -> "list[ValidationError]":
    """What is wrong with the value, by its place in it. `schema`: as JSON. Raises TooMuchWork, BadPattern,
    RecursionError, and what the validator itself fails with.
    """
    with limited_work():
        errors = list(validator_of(schema).iter_errors(value))
    return sorted(errors, key=lambda error: [str(part) for part in error.path])


MAX_READINGS = 32
"""The most values that are looked at to find what a model has meant."""
Place = tuple[str | int, ...]
Edits = dict[Place, Any]
"""By place in the value, what is to stand there."""


def bent_input(spec: ToolSpec, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments as the tool gets them (ADR 172), in the order of `bent`."""
    found: Mapping[str, Any] = bent(_schema_of(spec), dict(arguments))
    return found


def bent(schema: str, value: Any, *, texts: bool = True) -> Any:
    """The value, or if it does not fit the schema, the one value that it can only mean and that does fit.

    Models send `null` for what they leave out, and a list, an object, a number or a boolean as its JSON text. A `null`
    is left out where a field may be absent and not `null`; a text is read where the schema takes no text. If several
    values could be meant, or none that fits, the value stays as it is: the check then tells what is wrong with it.
    `texts` False: texts are what they are.
    """
    try:
        with limited_work():
            found = _only_reading(validator_of(schema), value, texts)
        refuse_oversize(canonical_json(found))  # a text that was read may be deeper than what can be stored
    except Exception:  # too much work, or whatever the validator itself fails with: the check says it
        return value
    return found


def _only_reading(validator: "Validator", value: Any, texts: bool) -> Any:
    waiting, seen, fitting = [value], set[str](), list[Any]()
    while waiting:
        here = waiting.pop()
        text = canonical_json(here)
        if text in seen:
            continue
        seen.add(text)
        spend(len(text) // MESSAGE_CHARS_A_UNIT)
        if len(seen) > MAX_READINGS:
            return value
        errors = list(validator.iter_errors(here))
        if not errors:
            fitting.append(here)
        ways = _ways(here, errors)
        waiting += [
            _edited(here, way) for way in ways if texts or all(each is ABSENT for each in way.values())
        ]
    return fitting[0] if len(fitting) == 1 else value


def _ways(value: Any, errors: "list[ValidationError]", *, all_of_them: bool = False) -> list[Edits]:
    """The ways to come nearer to a value without these errors. What every way needs is one way: the next look at the
    value shows what is left. `all_of_them`: there is no way unless each error has an edit.
    """
    needed: Edits = {}
    ways: list[Edits] = [{}]
    for error in errors:
        spend(1)
        if edit := _edit(value, error):
            needed |= edit
        elif branches := _branches(value, error):
            ways = [{**way, **more} for way in ways for more in branches][: MAX_READINGS + 1]
        elif all_of_them and error.validator not in ("unevaluatedProperties", "unevaluatedItems"):
            return []
    if needed or len(ways) > MAX_READINGS:
        return [needed] if needed else []
    return [way for way in ways if way]


def _edit(value: Any, error: "ValidationError") -> Edits:
    """What has to change at the place of the error; nothing if this is no place for a change."""
    place = tuple(error.absolute_path)
    here = _at(value, place)
    if here is not error.instance or error.schema is False:  # the error is about a name, or about all values
        return {}
    if here is None:
        return {place: ABSENT} if place and isinstance(place[-1], str) else {}
    if not isinstance(here, str) or not _takes_no_text(error):
        return {}
    spend(len(here) // MESSAGE_CHARS_A_UNIT)
    try:
        read = parse_value(here)
    except InvalidJson:
        return {}
    whole, _, rest = here.strip().lstrip("-").partition(".")
    is_grouped = whole != "0" and len(whole) <= 3 and len(rest) == 3 and rest.isdecimal()
    if read is None or isinstance(read, str) or is_grouped:  # 1.250 is more than a thousand in half of Europe
        return {}
    return {place: read}


def _takes_no_text(error: "ValidationError") -> bool:
    """Whether the schema at the error's place takes no text at all: not one that is only wrong in length or form."""
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            return "string" not in ([wanted] if isinstance(wanted, str) else wanted)
        case "enum":
            return not any(isinstance(one, str) for one in wanted)
        case "const":
            return not isinstance(wanted, str)
        case "anyOf" | "oneOf" if error.context:
            here = [one for one in error.context if one.absolute_path == error.absolute_path]
            return {_branch(one) for one in here if _takes_no_text(one)} == set(range(len(wanted)))
        case _:
            return False


def _branch(error: "ValidationError") -> Any:
    return error.relative_schema_path[0]


def _branches(value: Any, error: "ValidationError") -> list[Edits]:
    """The different edits that schemas of an `anyOf` or a `oneOf` need, without those that no edit can satisfy."""
    if error.validator not in ("anyOf", "oneOf"):
        return []
    inside: dict[Any, list[ValidationError]] = {}
    for one in error.context or ():
        inside.setdefault(_branch(one), []).append(one)
    found: list[Edits] = []
    for errors in inside.values():
        for way in _ways(value, errors, all_of_them=True):
            texts = [place for place in way if isinstance(_at(value, place), str)]
            is_text_elsewhere = any(
                tuple(one.absolute_path) in texts and not _takes_no_text(one)
                for others in inside.values()
                for one in others
            )
            if not is_text_elsewhere and way not in found:
                found.append(way)
    return found


def _at(value: Any, place: Place) -> Any:
    for part in place:
        value = value[part]
    return value


def _edited(value: Any, edits: Edits) -> Any:
    """A copy of the value with the edits, which are at different places."""
    if () in edits:
        return edits[()]
    made = copy.deepcopy(value)
    for place, edit in edits.items():
        around = _at(made, place[:-1])
        if edit is ABSENT:
            del around[place[-1]]
        else:
            around[place[-1]] = edit
    return made


_NAMES_FIELDS_ELSEWHERE = frozenset(
    ("$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas")
)


@lru_cache(maxsize=256)
def closed(text: str) -> str:
    """The schema of a tenant's tool, which takes no fields that it does not name unless it says so itself. A field also
    counts as named if a schema inside names it that applies to the whole input (`allOf`, `$ref` …).
    """
    schema = modern(json.loads(text))
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return text
    keyword = "unevaluatedProperties" if _NAMES_FIELDS_ELSEWHERE & schema.keys() else "additionalProperties"
    return json.dumps({**schema, keyword: False}, sort_keys=True)


@lru_cache(maxsize=256)
def left_to_the_tool(text: str) -> str:
    """The schema without patterns that cannot be matched here, and then without what could refuse an input because one
    is missing. Only for a tool whose own side checks its input as well, as MCP servers and pydantic do.
    """
    is_whole = True

    def leave(here: dict[str, Any]) -> None:
        nonlocal is_whole
        if "pattern" in here and not _can_be_matched(here["pattern"]):
            del here["pattern"]
            is_whole = False
        named = here.get("patternProperties", {})
        kept = {name: each for name, each in named.items() if _can_be_matched(name)}
        if len(kept) < len(named):  # nobody knows here which names these are
            here |= {"patternProperties": kept, "additionalProperties": True}
            is_whole = False

    schema = modern(json.loads(text), leave)
    if not is_whole and (rest := modern(schema, _without_conditions)) != schema:
        schema = {"additionalProperties": True, **rest}
    return json.dumps(schema, sort_keys=True)


def _without_conditions(here: dict[str, Any]) -> None:
    """Takes out what can refuse a value because a schema inside holds."""
    for key in ("not", "if", "then", "else", "maxContains", "unevaluatedItems", "unevaluatedProperties"):
        here.pop(key, None)
    if "oneOf" in here:
        here["allOf"] = [*here.get("allOf", ()), {"anyOf": here.pop("oneOf")}]


def _can_be_matched(pattern: Any) -> bool:
    """Also where it is no pattern at all, which the check of the schema says."""
    try:
        return not isinstance(pattern, str) or compiled(pattern) is not None
    except BadPattern:
        return not _look_aheads(pattern)


class Words(NamedTuple):
    """What messages call the whole value, and what decides which fields it takes. `is_quoted`: the schema is others'
    words, which no message may say as Acta's own.
    """

    value: str
    rule: str
    is_quoted: bool = False


def problems_of(errors: "list[ValidationError]", words: Words) -> str:
    """The first few problems, in one line."""
    return "; ".join(list(dict.fromkeys(_problem(error, words) for error in errors))[:MAX_PROBLEMS])


def _problem(error: "ValidationError", words: Words) -> str:
    """Names of fields are the model's own and may be anything."""
    return visible(_sentence(error, words)[:MAX_PROBLEM_CHARS], keep_newlines=False)


def _sentence(error: "ValidationError", words: Words) -> str:
    place = [str(part) for part in error.absolute_path]
    field = ".".join(place) or words.value
    instance: Any = error.instance
    wanted: Any = error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in wanted if name not in instance]
            return f"{_listed('.'.join([*place, name]) for name in missing)} is missing"
        case "additionalProperties" if wanted is False and isinstance(error.schema, dict):
            unknown = sorted(set(instance) - set(error.schema.get("properties", ())))
            return f"{_listed('.'.join([*place, name]) for name in unknown)} is not a field"
        case "unevaluatedProperties" if wanted is False:
            return f"{field} has fields that {'it' if place else words.rule} does not take"
        case "type":
            return f"{field} must be of type {_kind(error.schema)}"
        case "enum" | "pattern" if words.is_quoted:
            return f"{field} breaks the rule {error.validator} of the schema"
        case "enum":
            return f"{field} must be one of {_listed(json.dumps(one) for one in wanted)}"
        case "minLength" if wanted == 1:
            return f"{field} must not be empty"
        case "maxLength":
            return f"{field} must have at most {wanted} characters"
        case "minItems" | "maxItems" | "minimum" | "maximum" | "pattern":
            return f"{field} breaks the rule {error.validator} {wanted}"
        case _ if words.is_quoted:
            return f"{field} breaks the rule {error.validator} of the schema"
        case _:
            return f"{field}: {error.message}"


def _fields(schema: Mapping[str, Any]) -> str:
    """A sentence such as `Fields: path (string, required).`"""
    required = schema.get("required", ())
    described = [
        f"{name} ({_kind(field)}{', required' if name in required else ''})"
        for name, field in schema.get("properties", {}).items()
    ]
    return f"Fields: {', '.join(described)}." if described else "It takes no fields."


def _kind(field: object) -> str:
    kind = field.get("type", "any") if isinstance(field, dict) else "any"
    return kind if isinstance(kind, str) else " or ".join(kind)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)[:MAX_PROBLEM_CHARS]
