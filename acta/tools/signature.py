"""A function's parameters as a JSON Schema, and a call's arguments as what the function takes."""

import dataclasses
import inspect
import json
import math
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo, ModelPrivateAttr
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from pydantic_core import CoreSchema, PydanticUndefined

from acta.tools.call import BadTool, Call, ToolError

Function = Callable[..., Any]
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
FRAMEWORKS = frozenset({"fastapi", "starlette", "typer", "click", "attr", "attrs", "sqlmodel"})
"""Packages whose markers on a parameter mean something that a tool does not do."""
PLAIN = (str, int, float, bool, list, tuple, dict, set, frozenset)


class Parameters(NamedTuple):
    schema: dict[str, Any]
    """The JSON Schema of the arguments."""
    model: type[BaseModel]
    """Checks the arguments."""
    names: Mapping[str, str]
    """For each field of the model, the parameter."""
    own_defaults: frozenset[str]
    """Fields whose default value the function has itself. The defaults of the other fields are pydantic's."""
    call: str | None
    """The parameter that gets the Call; None if there is none."""

    def to_arguments(self, given: str | bytes) -> dict[str, Any]:
        """Keyword arguments, without those for which the function's own default is used. `given`: a JSON object. Raises
        ToolError, which names the wrong fields.
        """
        try:
            checked = self.model.model_validate_json(given)
        except ValidationError as error:
            said = [
                f"{'.'.join(map(str, each['loc'])) or 'the arguments'}: {each['msg']}"
                for each in error.errors(include_url=False, include_input=False)
            ]
            raise ToolError(f"these arguments do not fit: {'; '.join(said[:5])}") from None
        _refuse_rounding(json.loads(given), checked)
        _refuse_seconds(json.loads(given), self.model)
        left_out = self.own_defaults - checked.model_fields_set
        return {
            parameter: getattr(checked, field)
            for field, parameter in self.names.items()
            if field not in left_out
        }


def _refuse_rounding(given: Any, checked: BaseModel) -> None:
    """Raises ToolError for a whole number that pydantic has rounded, because the parameter is a `float`."""
    large = {
        float(each): each for each in _numbers(given, int) if abs(each) > 2**53 and int(float(each)) != each
    }
    for rounded in large.keys() & set(_numbers(checked.model_dump(), float) if large else ()):
        raise ToolError(
            f"{large[rounded]} would become {rounded!r} here. Send a number that a double can hold."
        )


def _refuse_seconds(given: Any, model: type[BaseModel]) -> None:
    """Raises ToolError for a date in digits, such as `20261201`, which pydantic reads as seconds since 1970."""
    other = _without_digits(given)
    if other == given:
        return
    found: list[Any] = []
    try:
        model.model_validate_json(json.dumps(other))
    except ValidationError as error:
        found = error.errors(include_url=False)
    except Exception:  # an author's own validator, which takes the digits and not the other text
        return
    for each in found:
        if each["type"].startswith("date") and each["input"] == _NO_DATE:
            raise ToolError(
                f"these arguments do not fit: {'.'.join(map(str, each['loc']))}: write a date as 2026-12-01, and a "
                "date with a time as 2026-12-01T18:30:00+01:00"
            )


_NO_DATE = "no date"


def _without_digits(value: Any) -> Any:
    """With another text in place of each that is a number."""
    match value:
        case dict():
            return {name: _without_digits(each) for name, each in value.items()}
        case list():
            return list(map(_without_digits, value))
        case str():
            with suppress(ValueError):
                return _NO_DATE if math.isfinite(float(value)) else value
    return value


def _numbers(value: Any, kind: type) -> Iterator[Any]:
    if type(value) is kind:
        yield value
    elif isinstance(value, dict | list | tuple | set | frozenset):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _numbers(each, kind)


def parameters_of(function: Function) -> Parameters:
    """Raises BadTool."""
    name = function.__name__
    hints = _hints(function)
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    own_defaults: set[str] = set()
    call = None
    for place, parameter in enumerate(inspect.signature(function).parameters.values()):
        _check_kind(name, parameter)
        if parameter.name not in hints:
            raise BadTool(
                f"{name}: the parameter {parameter.name} has no type. Write one, such as {parameter.name}: str: "
                "the model learns from it what to give."
            )
        annotation = hints[parameter.name]
        if annotation is Call:
            if call is not None:
                raise BadTool(f"{name}: {call} and {parameter.name} are both a Call. Leave one out.")
            call = parameter.name
            continue
        if Call in typing.get_args(annotation):
            raise BadTool(f"{name}: write {parameter.name}: Call. Every call has one, so it is never None.")
        _check_marks(name, parameter, annotation)
        field, default = f"p{place}", parameter.default
        # pydantic itself combines the type with a default of `Field(…)`, as in a model
        named = _named(annotation, parameter.name)
        has_default = default is not inspect.Parameter.empty and default is not ...
        fields[field] = (named, default) if has_default else named
        names[field] = parameter.name
        if has_default and not isinstance(default, FieldInfo):
            own_defaults.add(field)
    model = _model(name, fields)
    _check_fields(name, model, names)
    return Parameters(_schema(name, model), model, names, frozenset(own_defaults), call)


def _named(annotation: Any, name: str) -> Any:
    """The type, with the parameter's name as the argument's. An alias that the author gives comes later and wins."""
    is_annotated = typing.get_origin(annotation) is Annotated
    bare, *marks = typing.get_args(annotation) if is_annotated else (annotation,)
    return Annotated[(bare, Field(alias=name), *marks)]


def _check_marks(name: str, parameter: inspect.Parameter, annotation: Any) -> None:
    """Refuses what another library would act on: here the model would have to fill in the parameter. Raises BadTool."""
    marks = typing.get_args(annotation)[1:] if typing.get_origin(annotation) is Annotated else ()
    for mark in (parameter.default, *marks):
        if isinstance(mark, dataclasses.Field | ModelPrivateAttr):
            made_by = "dataclasses.field" if isinstance(mark, dataclasses.Field) else "PrivateAttr"
            raise BadTool(
                f"{name}: {parameter.name} has {made_by} as its default, which only fields of a class have. Write the "
                "value itself, or pydantic's Field(…)."
            )
        classes = type(mark).__mro__
        is_foreign = any(one.__module__.partition(".")[0] in FRAMEWORKS for one in classes)
        is_dependency = any(one.__name__ == "Depends" for one in classes)
        if is_foreign or is_dependency or (isinstance(mark, FieldInfo) and type(mark) is not FieldInfo):
            kind = f"{type(mark).__module__}.{type(mark).__name__}"
            raise BadTool(
                f"{name}: {parameter.name} is marked with {kind}, which nothing acts on here: the model would give the "
                "value. Bounds and defaults are pydantic's Field(…). What the model may not choose comes from a "
                "parameter call: Call, or is read in the function."
            )


def _check_fields(name: str, model: type[BaseModel], names: Mapping[str, str]) -> None:
    """Raises BadTool for what pydantic accepts and a tool cannot keep."""
    aliases: dict[str, str] = {}
    for field, info in model.model_fields.items():
        parameter, alias = names[field], info.validation_alias or info.alias
        if not isinstance(alias, str):
            raise BadTool(
                f"{name}: {parameter} has several aliases. The model is told one: write alias=TEXT."
            )
        if alias in aliases:
            raise BadTool(
                f"{name}: {aliases[alias]} and {parameter} are both called {alias}. Rename one of them."
            )
        aliases[alias] = parameter
        twice = [bound for bound, count in Counter(_bounds(info)).items() if count > 1]
        if twice:  # pydantic keeps the later one, whichever is stricter
            raise BadTool(f"{name}: {parameter} says {', '.join(twice)} twice. Write each bound once.")
        if info.default_factory is not None and info.default_factory_takes_validated_data:
            raise BadTool(
                f"{name}: the default_factory of {parameter} takes an argument. Write one that takes none."
            )
        if not _is_default(info):
            raise BadTool(
                f"{name}: the default of {parameter}, a {type(info.default).__name__}, is no value of its type. Write "
                f"one, or None where the argument may be left out."
            )


def _bounds(info: FieldInfo) -> Iterator[str]:
    """The names of the bounds that the field has."""
    for one in info.metadata:
        for bound in FieldInfo.metadata_lookup:
            if getattr(one, bound, None) is not None:
                yield bound


def _is_default(info: FieldInfo) -> bool:
    """Whether the function may get the default. Bounds do not hold for it, as in pydantic: an author may let 0 mean
    something else.
    """
    default, kind = info.default, typing.cast("Any", info.annotation)
    if default is PydanticUndefined or default is None or isinstance(default, PLAIN):
        return True
    try:
        TypeAdapter(kind).validate_python(default)
    except ValidationError:
        return False
    return True


def _check_kind(name: str, parameter: inspect.Parameter) -> None:
    if parameter.kind in VARIABLE:
        stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
        raise BadTool(
            f"{name}: {stars}{parameter.name} cannot be described to a model. Name each parameter, or take a list."
        )
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise BadTool(f"{name}: arguments come by name. Leave out the / among the parameters.")


def _hints(function: Function) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise BadTool(
            f"{function.__name__}: the type {error.name} is not known where the function stands. Import it, and not "
            "under TYPE_CHECKING, or define it before the function and outside of other functions."
        ) from None


def _model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    try:
        # The fields get names of Acta's: a parameter may have the name of a method of pydantic's models.
        made: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        return made
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        raise _unusable(name, error) from None


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out titles that only repeat the fields' names: each request to a model would carry them."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> dict[str, Any]:
        made = super().generate(schema, mode)
        made.pop("title", None)
        return made


def _schema(name: str, model: type[BaseModel]) -> dict[str, Any]:
    try:
        made = model.model_json_schema(schema_generator=_WithoutTitles)
    except PydanticUserError as error:  # for example a type that JSON cannot represent
        raise _unusable(name, error) from None
    made.setdefault("properties", {})
    return made


def _unusable(name: str, error: Exception) -> BadTool:
    said = str(error).splitlines()[0]
    return BadTool(
        f"{name}: pydantic cannot describe the parameters ({said}). Use types that JSON has: str, int, float, bool, "
        "list, dict, an Enum, a Literal, dates, or a pydantic model."
    )
