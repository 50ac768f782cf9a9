"""The bodies of POST requests. Unknown fields are refused, and so are values of another JSON type."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from shared.api.text import NOT_BLANK, READABLE, JsonObject

LONGEST_MESSAGE = 500_000
"""Characters; what a deployment allows is `Settings.max_message_chars` (`shared.api.text.refuse_longer`)."""

Message = Annotated[str, Field(max_length=LONGEST_MESSAGE), READABLE, NOT_BLANK]
Name = Annotated[str, Field(min_length=1, max_length=64), READABLE]
Metadata = Annotated[dict[Name, Annotated[str, Field(max_length=256), READABLE]], Field(max_length=16)]


class RequestBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True, allow_inf_nan=False)


class StartSession(RequestBody):
    """`POST /v1/sessions`. Without `message` the session stays idle; absent limits are the deployment's."""

    message: Message | None = None
    agent_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")] | None = None
    max_steps: Annotated[int, Field(ge=1, le=1_000)] | None = None
    token_budget: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    cost_budget_usd: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    review_every: Annotated[int, Field(ge=0, le=1_000)] | None = None
    metadata: Metadata | None = None


class PostMessage(RequestBody):
    """`POST /v1/sessions/{id}/messages`."""

    content: Message


class Resolve(RequestBody):
    """`POST …/interventions/{iid}/resolve`. Which `option` and `input` fit depends on its type."""

    option: Name
    input: JsonObject | None = None
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None
