"""The bodies of POST and PUT requests. Unknown fields are refused, and so are values of another JSON type.

Here are those about sessions; those of definitions, which one function takes, are in `definition_bodies.py`.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from acta_engine.api.json_body import RequestBody
from acta_engine.errors import ValidationFailed
from acta_engine.limits import caps
from acta_engine.notifications.receiver import MAX_URL_CHARS
from acta_engine.untrusted.validation_messages import too_long
from acta_engine.untrusted.visible import is_blank


def _readable(text: str) -> str:
    if "\0" in text:
        raise ValueError("The text has a NUL character.")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("The text has half of a surrogate pair, which is not valid Unicode.")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("The text is blank.")
    if is_blank(text):
        raise ValueError("The text has no visible character.")
    return text


def _usable_throughout(value: dict[str, Any]) -> dict[str, Any]:
    """Every text in it can be stored. Numbers were checked when they were read (`read_exactly`)."""
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str):
            _readable(item)
    return value


# Markers for `Annotated`. They come after the bounds, so that a bound is reported first.
READABLE = AfterValidator(_readable)
NOT_BLANK = AfterValidator(_not_blank)
JsonObject = Annotated[dict[str, Any], AfterValidator(_usable_throughout)]


def refuse_longer(field: str, text: str | None, limit: int) -> None:
    """Checks the configured limit, in characters. The models below have a fixed one."""
    if text is not None and len(text) > limit:
        raise ValidationFailed(f"{field} is too long.", {field: [too_long(text, limit)]})


LONGEST_MESSAGE = 500_000
"""Characters. What a deployment allows is `Settings.max_message_chars`, see `refuse_longer`."""

Message = Annotated[str, Field(max_length=LONGEST_MESSAGE), READABLE, NOT_BLANK]
Name = Annotated[str, Field(min_length=1, max_length=64), READABLE]
Metadata = Annotated[dict[Name, Annotated[str, Field(max_length=256), READABLE]], Field(max_length=16)]


NotifyUrl = Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS), READABLE]


MOST_PROMPT_VERSIONS = 9_999_999_999


class SessionFields(RequestBody):
    """What may be said of a new session. Absent limits are the agent's, else the deployment's. The most of both
    budgets is the deployment's to say (`shared/acta_engine/limits/caps.py`).
    """

    agent_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")] | None = None
    max_steps: Annotated[int, Field(ge=1, le=caps.MAX_MAX_STEPS)] | None = None
    token_budget: Annotated[int, Field(ge=1)] | None = None
    cost_budget_usd: Annotated[float, Field(gt=0)] | None = None
    review_every: Annotated[int, Field(ge=0, le=1_000)] | None = None
    metadata: Metadata | None = None
    visibility: Literal["private", "tenant"] | None = None
    notify_url: NotifyUrl | None = None
    output_schema: JsonObject | None = None
    prompts: (
        Annotated[dict[Name, Annotated[int, Field(ge=1, le=MOST_PROMPT_VERSIONS)]], Field(max_length=16)]
        | None
    ) = None


class StartSession(SessionFields):
    """`POST /v1/sessions`. Without `content` the session stays idle."""

    content: Message | None = None


class ForkSession(SessionFields):
    """`POST /v1/sessions/{id}/fork`. `at`: the number of an event; None: the newest turn that has ended. Without
    `content` the fork goes on with the run. `agent_id` None: the session's own agent.
    """

    content: Message | None = None
    at: Annotated[int, Field(ge=1)] | None = None


class ChangeLimits(RequestBody):
    """`PATCH /v1/sessions/{id}`. What is absent stays as it is."""

    max_steps: Annotated[int, Field(ge=1, le=caps.MAX_MAX_STEPS)] | None = None
    token_budget: Annotated[int, Field(ge=1)] | None = None
    cost_budget_usd: Annotated[float, Field(gt=0)] | None = None
    review_every: Annotated[int, Field(ge=0, le=1_000)] | None = None


class PostMessage(RequestBody):
    """`POST /v1/sessions/{id}/messages`."""

    content: Message


class Resolve(RequestBody):
    """`POST …/interventions/{iid}/resolve`. Which `option` and `input` fit depends on the intervention's type."""

    option: Name
    input: JsonObject | None = None
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None
