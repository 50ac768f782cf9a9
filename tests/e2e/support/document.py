"""Every answer is compared with the API's document: status, headers, content type, body.

The document allows fields that are added later. Here they are refused: what is not described is not answered.
"""

import json
import re
from functools import cache
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from acta.infra.document.openapi import document
from tests.api.gateway import routed

Json = dict[str, Any]


class NotDescribed(AssertionError):
    """The message says which answer, and in what it differs."""


def checked(answer: httpx.Response) -> httpx.Response:
    """The answer. Raises NotDescribed. Of a path or method that the API does not have the document says nothing."""
    request = answer.request
    path = request.url.raw_path.decode().partition("?")[0]
    key, _ = routed(request.method, path)
    if key == "$default" or path.startswith("//"):
        return answer
    where = f"{request.method} {path} answered {answer.status_code}"
    method, _, template = key.replace("+}", "}").partition(" ")
    described = document()["paths"][template][method.lower()]["responses"].get(str(answer.status_code))
    if described is None:
        raise NotDescribed(f"{where}, which is not described: {answer.text[:300]}")
    described = resolved(described)
    _check_headers(where, answer, described)
    _check_body(where, answer, described)
    return answer


def _check_headers(where: str, answer: httpx.Response, described: Json) -> None:
    headers = described.get("headers", {})
    for name in document()["components"]["headers"]:
        if name in answer.headers and name not in headers:
            raise NotDescribed(f"{where} with {name}, which is not described")
    for name, header in headers.items():
        header, value = resolved(header), answer.headers.get(name)
        if value is None and header.get("required"):
            raise NotDescribed(f"{where} without {name}")
        if value is None:
            continue
        pattern = header["schema"].get("pattern")
        is_other = pattern is not None and not re.search(pattern, value)
        if is_other or (header["schema"]["type"] == "integer" and not value.isdigit()):
            raise NotDescribed(f"{where} with {name}: {value}")


def _check_body(where: str, answer: httpx.Response, described: Json) -> None:
    content = described.get("content")
    if content is None:
        if answer.content:
            raise NotDescribed(f"{where} with a body, and none is described")
        return
    kind = answer.headers.get("content-type", "")
    if kind not in content and (kind := kind.partition(";")[0]) not in content:
        raise NotDescribed(
            f"{where} as {answer.headers.get('content-type')}, and not as {', '.join(content)}"
        )
    if kind == "application/json":
        problems = list(validator(json.dumps(content[kind]["schema"])).iter_errors(answer.json()))
    elif kind == "text/event-stream":
        event = validator(json.dumps({"$ref": "#/components/schemas/Event"}))
        lines = [line for line in answer.text.splitlines() if line.startswith("data: ")]
        problems = [each for line in lines for each in event.iter_errors(json.loads(line[len("data: ") :]))]
    else:
        return
    if problems:
        worst = problems[0]
        while worst.context:
            worst = worst.context[0]
        at = "/".join(map(str, worst.absolute_path))
        raise NotDescribed(f"{where}, and at {at or 'the whole'}: {worst.message[:400]}")


def resolved(described: Json) -> Json:
    """What a `$ref` leads to."""
    reference = described.get("$ref")
    if reference is None:
        return described
    found: Json = document()
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


@cache
def validator(schema: str) -> Draft202012Validator:
    """`schema`: JSON."""
    return Draft202012Validator({**closed(json.loads(schema)), "components": _components()})


@cache
def _components() -> Json:
    components: Json = closed(document()["components"])
    return components


def closed(schema: Any) -> Any:
    """An object has the properties that are described, unless others are."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(each) for name, each in schema.items()}
    if schema.get("type") == "object" and "properties" in schema and "additionalProperties" not in schema:
        made["additionalProperties"] = False
    return made
