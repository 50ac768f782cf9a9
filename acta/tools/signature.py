"""A function's parameters as a JSON Schema, and a call's arguments as what the function takes."""

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from pydantic_core import CoreSchema

from acta.tools.call import Call
from acta.tools.errors import BadTool, ToolError

Function = Callable[..., Any]
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Parameters(NamedTuple):
    """`schema`: of the arguments. `model`: checks them. `names`: field of the model -> parameter. `call`: the parameter
    that gets the Call, None where no parameter does.
    """

    schema: dict[str, Any]
    model: type[BaseModel]
    names: Mapping[str, str]
    call: str | None

    def to_arguments(self, given: str | bytes) -> dict[str, Any]:
        """Keyword arguments without those that the function has defaults for. `given`: a JSON object. Raises ToolError
        that names the wrong fields.
        """
        try:
            checked = self.model.model_validate_json(given)
        except ValidationError as error:
            raise ToolError(_wrong(error)) from None
        return {self.names[field]: getattr(checked, field) for field in checked.model_fields_set}


def parameters_of(function: Function) -> Parameters:
    """Raises BadTool."""
    name = function.__name__
    hints = _hints(function)
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
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
        field = f"p{place}"
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        info: Any = Field(default, alias=parameter.name)
        fields[field] = (annotation, info)
        names[field] = parameter.name
    model = _model(name, fields)
    return Parameters(_schema(name, model), model, names, call)


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
        # The fields' own names are ours: a parameter may be called like a method of pydantic's models.
        made: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        return made
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        raise _unusable(name, error) from None


class _WithoutTitles(GenerateJsonSchema):
    """Titles that only repeat the fields' names are left out: each request to a model would carry them."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> dict[str, Any]:
        made = super().generate(schema, mode)
        made.pop("title", None)
        return made


def _schema(name: str, model: type[BaseModel]) -> dict[str, Any]:
    try:
        made = model.model_json_schema(schema_generator=_WithoutTitles)
    except PydanticUserError as error:  # such as a type that JSON has no form of
        raise _unusable(name, error) from None
    made.setdefault("properties", {})
    return made


def _unusable(name: str, error: Exception) -> BadTool:
    said = str(error).splitlines()[0]
    return BadTool(
        f"{name}: pydantic cannot describe the parameters ({said}). Use types that JSON has: str, int, float, bool, "
        "list, dict, an Enum, a Literal, dates, or a pydantic model."
    )


def _wrong(error: ValidationError) -> str:
    said = [
        f"{'.'.join(str(part) for part in each['loc']) or 'the arguments'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)
    ]
    return f"these arguments do not fit: {'; '.join(said[:5])}"
