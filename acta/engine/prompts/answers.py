"""Managed prompts as the API answers them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from acta.engine.agents.answers import AppliedFromView
from acta.engine.api.answers import Instant, TypedDict, copied
from acta.engine.prompts import prompt as stored


class PromptView(TypedDict):
    """A version of a managed prompt."""

    name: str
    description: str
    """What the prompt is for."""
    active: bool
    """Whether this version is in force. Exactly one is."""
    draft: bool
    """Whether it was written to be tried and nobody has put it in force."""
    version: Annotated[int, Field(ge=1)]
    content: str
    comment: str | None
    created_by: str
    """The subject of its author; `acta`: a release brought it."""
    created_at: Instant | None
    """null: the release's own text, which was never stored."""
    applied: AppliedFromView | None
    """null: no set of files owns it."""
    warnings: list[str]
    """Words that Acta reads in a model's replies, and that the text does not have."""


class PromptInForceView(PromptView):
    authors: list[str]
    """Who wrote its newest 100 versions, the latest first."""
    seed_content: str
    """The release's own text, to compare with or to go back to."""


def prompt_view(prompt: stored.Prompt, in_force: int | None = None) -> PromptView:
    """`in_force`: the number of the version in force; None: it is this one."""
    active = in_force in (None, prompt.version)
    return copied(PromptView, prompt, description=stored.DESCRIPTIONS[prompt.name], active=active)
