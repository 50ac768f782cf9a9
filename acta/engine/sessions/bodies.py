"""The bodies of POST and PUT requests. Unknown fields are refused, and so are values of another JSON type.

Here are those about sessions, which two functions take. All others stand beside their handlers, in `routes.py`.
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from acta.engine.api.json_body import RequestBody, optional
from acta.engine.limits import caps
from acta.engine.log.head import Rating, SessionSettings
from acta.engine.notifications.receiver import MAX_URL_CHARS
from acta.engine.untrusted.texts import NOT_BLANK, READABLE, BoundedBy, JsonObject, Name

LONGEST_MESSAGE = 500_000
"""Characters."""

Message = Annotated[
    str, Field(max_length=LONGEST_MESSAGE), BoundedBy("max_message_chars"), READABLE, NOT_BLANK
]
NotifyUrl = Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS), READABLE]


class StartLimits(RequestBody):
    """Who works on a new session, and within which limits. The deployment bounds both budgets
    (`acta/engine/limits/caps.py`).
    """

    agent_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")] | None = None
    """The agent that works on it. Absent: `default`; for a fork, the agent of the session that is forked. Another agent
    brings its models, prompt and tools."""
    max_steps: Annotated[int, Field(ge=1, le=caps.MAX_MAX_STEPS)] | None = None
    """The most iterations of a run, after which it ends gracefully."""
    token_budget: Annotated[int, Field(ge=1)] | None = None
    """The most tokens in a window of time, after which a run waits or asks a person."""
    cost_budget_usd: Annotated[float, Field(gt=0)] | None = None
    """The most US dollars that the whole session may cost."""
    review_every: Annotated[int, Field(ge=0, le=1_000)] | None = None
    """A person reviews the work every so many turns. 1: after every turn. 0: never."""


if TYPE_CHECKING:

    class NamedSettings(SessionSettings, StartLimits):
        pass
else:
    NamedSettings = optional(SessionSettings, StartLimits)


class SessionFields(NamedSettings):
    """What may be said of a new session. Absent limits are the agent's, else the deployment's."""

    notify_url: NotifyUrl | None = None
    """Its own webhook, which is told of its questions and its end, beside the tenant's. It is not shown again. The host
    is one of those that the operator allows."""
    output_schema: JsonObject | None = None
    """JSON Schema 2020-12 that the final answers have to fit (`result.data`), at most 8,192 bytes; `$ref` leads to `#`
    or `#/$defs/NAME`, a `pattern` is one of RE2; `format` is not checked. Absent: the agent's; of a fork the session's,
    else the agent's."""

    def settings(self) -> dict[str, Any]:
        """Those of `SessionSettings` that the request names."""
        named = ((name, getattr(self, name)) for name in SessionSettings.model_fields)
        return {name: value for name, value in named if value is not None}


class StartSession(SessionFields):
    """What to start. Absent limits are the agent's, else the deployment's."""

    EXAMPLES: ClassVar = {
        "goal": {"content": "Write a file notes.md with three facts about rivers."},
        "limits": {
            "content": "Summarise what the files say about costs.",
            "agent_id": "default",
            "max_steps": 20,
            "token_budget": 200000,
            "metadata": {"ticket": "OPS-42"},
            "visibility": "tenant",
        },
        "idle": {"metadata": {"ticket": "OPS-43"}},
    }

    content: Message | None = None
    """The goal, in the user's words. Without it the session stays idle. At most 10,000 characters where the deployment
    does not say otherwise."""


class ForkSession(SessionFields):
    """What the fork is to be. What is absent is as for a start of the session's agent."""

    EXAMPLES: ClassVar = {
        "another way": {"content": "Do it without the table.", "at": 12},
        "another agent": {"agent_id": "default", "max_steps": 10},
    }

    content: Message | None = None
    """What to do next. Without it the fork goes on with the run; where that had ended at that turn, the fork stays
    idle."""
    at: Annotated[int, Field(ge=1)] | None = None
    """The number (`seq`) of an event: the fork has the conversation up to the end of its turn. Absent: of the newest
    turn that has ended."""


class ChangeLimits(RequestBody):
    """New limits. Absent or null: as it was. A limit can be changed and not removed; only reviews end, with
    `review_every` 0."""

    EXAMPLES: ClassVar = {"limits": {"max_steps": 80, "token_budget": 400000}}

    max_steps: Annotated[int, Field(ge=1, le=caps.MAX_MAX_STEPS)] | None = None
    """The most iterations of a run, after which it ends gracefully."""
    token_budget: Annotated[int, Field(ge=1)] | None = None
    """The most tokens in a window of time, after which a run waits or asks a person."""
    cost_budget_usd: Annotated[float, Field(gt=0)] | None = None
    """The most US dollars that the whole session may cost."""
    review_every: Annotated[int, Field(ge=0, le=1_000)] | None = None
    """A person reviews the work every so many turns. 0: never."""


class RateAnswer(RequestBody):
    """What you think of an answer."""

    EXAMPLES: ClassVar = {
        "good": {"rating": "up"},
        "bad": {"rating": "down", "comment": "The second figure is last year's."},
    }

    rating: Rating
    """`up`: it was good. `down`: it was not."""
    run_id: Annotated[str, Field(min_length=1, max_length=64), READABLE] | None = None
    """One of the session's newest 10 completed runs. Absent: the newest of them."""
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None
    """Why, for whoever may read the session. The agent does not read it."""


class PostMessage(RequestBody):
    """What to say."""

    EXAMPLES: ClassVar = {"message": {"content": "Name the longest river, too."}}

    content: Message
    """What is said to the agent. At most 10,000 characters where the deployment does not say otherwise."""
    output_schema: JsonObject | None = None
    """JSON Schema 2020-12 that the answer of the run has to fit, as at the start of a session. Absent: a run that the
    message begins answers in free text, and one that goes on answers as it was asked to."""


class Resolve(RequestBody):
    """A decision. Which options and inputs fit depends on the intervention's type."""

    EXAMPLES: ClassVar = {
        "approve": {"option": "approve", "comment": "It is a copy."},
        "reject": {"option": "reject", "comment": "Move it to archive/ instead."},
    }

    option: Name
    """One of the intervention's `options`."""
    input: JsonObject | None = None
    """What the option takes: `answer` {text}, `modify` {input}, `raise` {token_budget?, cost_budget_usd?}, `record`
    {result}, `retry` {hint?}.
    """
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None
    """Why, for whoever reads it later. The agent reads the reason of a rejection."""
