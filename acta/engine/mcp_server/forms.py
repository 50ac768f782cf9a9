"""What a client of `/mcp` asks its person, in a form or by opening the page for people (ADR 138).

No client's model decides: it may only ask that its person is asked. A form shows the whole question, and its answer
counts for exactly what it has shown to exactly this person. Texts from outside stand in it between marked lines.
"""

import hashlib
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from acta.engine.mcp_server.protocol import INVALID_PARAMS, RpcError
from acta.engine.people.policies import NEEDS_INPUT
from acta.engine.untrusted.exact_json import canonical_json
from acta.engine.untrusted.quoting import quoted, quoted_json

Json = dict[str, Any]

_FIELDS: Mapping[str, Json] = {
    "answer": {"text": {"type": "string", "title": "Your answer"}},
    "retry": {"hint": {"type": "string", "title": "A hint for the agent, if it tries again"}},
    "record": {"result": {"type": "string", "title": "What the call's result is, if you record one"}},
    "raise": {
        "token_budget": {"type": "integer", "title": "The new token budget, if you raise it"},
        "cost_budget_usd": {"type": "number", "title": "The new budget in dollars, if you raise it"},
    },
}
"""Option -> the fields of its input, in a form's plain types. `modify` needs a whole input, which no form has."""
_COMMENT: Json = {"comment": {"type": "string", "title": "Why (optional)"}}
_APART = ("question", "asked_by", "agent_said", "calls")
"""Fields of a question's context that a form shows by themselves."""
_SAYS = (
    "Acta asks you to decide ({type}). Acta's own words are these two lines and the names of the fields. What stands "
    "between two lines with the same mark was written by agents, tools and other people: it is what you decide about.\n"
    "Session {session_id}, question {intervention_id}."
)


def forms_for(user: str, questions: Iterable[Json]) -> dict[str, Json]:
    """Key -> the form of a question that a form can show, for this person. `questions`: open, as the API shows them.

    A key names the question and the hash of the person, of the question with the hash of its input, and of the form: an
    answer under another key was not given to what is asked now.
    """
    made: dict[str, Json] = {}
    for one in questions:
        form = _form(one)
        if form is not None:
            shown = canonical_json([user, one, form]).encode("utf-8", "surrogatepass")
            made[f"{one['intervention_id']}.{hashlib.sha256(shown).hexdigest()[:32]}"] = form
    return made


def decisions(forms: Mapping[str, Json], responses: Json) -> list[tuple[str, Json]]:
    """What the answers to these forms decide: id of the intervention, and the decision. Answers under other keys are
    passed over. Refusing a form rejects a call that waits for an approval; every other question stays open then. Raises
    RpcError for an option that the form has not offered.
    """
    decided: list[tuple[str, Json]] = []
    for key, form in forms.items():
        intervention_id, _, _ = key.partition(".")
        offered = form["params"]["requestedSchema"]["properties"]["option"]["enum"]
        match responses.get(key):
            case {"action": "accept", **rest}:
                decided.append((intervention_id, _decision(rest.get("content"), offered)))
            case {"action": "decline"} if "reject" in offered:
                decided.append((intervention_id, {"option": "reject"}))
    return decided


def to_page(intervention_id: str, url: str) -> dict[str, Json]:
    """What a client is asked that opens addresses for its person. The page asks for a sign-in of its own."""
    asked = {"mode": "url", "message": "Acta asks you to decide on its page for people.", "url": url}
    params = {**asked, "elicitationId": intervention_id}
    return {f"{intervention_id}.page": {"method": "elicitation/create", "params": params}}


def _decision(content: object, offered: list[str]) -> Json:
    if not isinstance(content, dict) or content.get("option") not in offered:
        raise RpcError(INVALID_PARAMS, f"An accepted form has content with an option: {', '.join(offered)}.")
    option = content["option"]
    given = {name: content[name] for name in _FIELDS.get(option, {}) if content.get(name) not in (None, "")}
    made: Json = {"option": option}
    if given:
        made["input"] = given
    if content.get("comment"):
        made["comment"] = content["comment"]
    return made


def _without_padding(text: str) -> str:
    """More than two blank lines in a row become one that counts them, so that padding pushes nothing of a form out of
    sight. `\\n` is the only line end here: the view of a question shows all others as escapes.
    """
    shown: list[str] = []
    for blank, lines in groupby(text.split("\n"), key=lambda line: not line.strip(" ")):
        run = list(lines)
        shown += [f"[{len(run)} blank lines]"] if blank and len(run) > 2 else run
    return "\n".join(shown)


def _form(one: Json) -> Json | None:
    """None: a form cannot show or answer it. A person does not decide on an input or a text of which they see a part
    alone, and what the server of a tool asks has fields of its own.
    """
    context = one["context"]
    calls = [each for each in (one["tool_call"], *context.get("calls", ())) if each is not None]
    is_by_server = one["type"] == "clarification_needed" and calls
    if is_by_server or any(each.get("shortened") for each in (context, *calls)):
        return None
    key = one["intervention_id"]  # made after the texts were written
    shown = [_SAYS.format(**one)]
    for name, label in (("question", context.get("asked_by", "acta")), ("agent_said", "")):
        if context.get(name):
            shown.append(quoted(name, label, _without_padding(context[name]), key=key))
    shown += [quoted_json("input", call["name"], call["input"], key=key) for call in calls]
    rest = {name: value for name, value in context.items() if name not in _APART}
    chain = {"asked_for": one["chain"]} if one.get("chain") else {}
    shown.append(quoted_json("context", one["type"], {"agent": one["agent_name"], **chain, **rest}, key=key))
    options = [option for option in one["options"] if option in _FIELDS or option not in NEEDS_INPUT]
    fields: Json = {"option": {"type": "string", "title": "What shall be done", "enum": options}}
    for option in options:
        fields |= _FIELDS.get(option, {})
    schema = {"type": "object", "properties": {**fields, **_COMMENT}, "required": ["option"]}
    params = {"mode": "form", "message": "\n".join(shown), "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}
