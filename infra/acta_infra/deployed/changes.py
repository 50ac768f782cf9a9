"""What a deployment would change: the templates that were synthesised against those that are deployed."""

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from acta_engine.settings import PREFIX

Template = Mapping[str, Any]
RELEASE = f"{PREFIX}RELEASE"
"""The functions' variable with what the release is called."""


class Changes(NamedTuple):
    """Of one stack. `added`, `removed`, `changed`: logical ids of resources. A stack that is changed may have none of
    them: outputs and parameters change too.
    """

    state: Literal["new", "changed", "same"]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class NewRelease(NamedTuple):
    """`functions`: how many of them get it. `with_new_code`: how many of these have other code than before."""

    before: str
    after: str
    functions: int
    with_new_code: int = 0


def changes(wanted: Template, deployed: Template | None) -> Changes:
    """`deployed` None: the stack is not there."""
    if deployed is None:
        return Changes("new", added=tuple(wanted["Resources"]))
    if wanted == deployed:
        return Changes("same")
    new, old = wanted["Resources"], deployed.get("Resources", {})
    return Changes(
        "changed",
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(name for name in new if name in old and new[name] != old[name]),
    )


def without_release(wanted: Template, deployed: Template) -> tuple[Template, NewRelease | None]:
    """`wanted` with the deployed release's name and code, and its versions of functions under their deployed ids: what
    differs then is all that changes beside. None: the release is the same.
    """
    shown: Any = json.loads(json.dumps(wanted))
    before = after = ""
    functions = with_new_code = 0
    for name, variables in _variables(shown).items():
        there = _variables(deployed).get(name, {}).get(RELEASE)
        if there is not None and variables.get(RELEASE, there) != there:
            before, after = str(there), str(variables[RELEASE])
            variables[RELEASE] = there
            functions += 1
            with_new_code += _takes_code_of(name, deployed, shown)
    if not functions:
        return wanted, None
    text, old = json.dumps(shown), _versions(deployed)
    for function, version in _versions(wanted).items():
        text = text.replace(json.dumps(version), json.dumps(old.get(function, version)))
    return json.loads(text), NewRelease(before, after, functions, with_new_code)


def _takes_code_of(function: str, deployed: Template, shown: Any) -> bool:
    """Gives `shown` the code that is deployed; whether it was another one. A digest tells nobody what changes."""
    code = deployed["Resources"][function]["Properties"].get("Code")
    properties = shown["Resources"][function]["Properties"]
    if code is None or properties.get("Code") == code:
        return False
    properties["Code"] = code
    return True


def _variables(template: Template) -> dict[str, dict[str, Any]]:
    """Of each function."""
    return {
        name: resource.get("Properties", {}).get("Environment", {}).get("Variables", {})
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"] == "AWS::Lambda::Function"
    }


def _versions(template: Template) -> dict[str, str]:
    """Function -> the id of its version. A release has a version of its own, so the id changes with each."""
    return {
        resource["Properties"]["FunctionName"]["Ref"]: name
        for name, resource in template.get("Resources", {}).items()
        if resource["Type"] == "AWS::Lambda::Version"
    }
