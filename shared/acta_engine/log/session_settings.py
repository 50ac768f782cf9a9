"""What whoever starts a session says of it, and the session keeps from then on."""

from typing import Annotated, Any, Literal

from pydantic import Field

from acta_engine.store.schema import StoredModel
from acta_engine.untrusted.texts import READABLE, InRequests, Name

Visibility = Literal["private", "tenant"]
MOST_PROMPT_VERSIONS = 9_999_999_999

Metadata = Annotated[dict[Name, Annotated[str, Field(max_length=256), READABLE]], Field(max_length=16)]
PromptVersions = Annotated[
    dict[Name, Annotated[int, Field(ge=1, le=MOST_PROMPT_VERSIONS)]], Field(max_length=16)
]


class SessionSettings(StoredModel):
    """Fields that the bodies of a start and of a fork take, and that the head keeps. To add one, write it here and use
    it; where people see it, write it into `Session` in `shared/acta_engine/sessions/answers.py`, too.
    """

    metadata: Annotated[dict[str, str], InRequests(Metadata)] = Field(default_factory=dict)
    """Names and values of your own, which are told with the session."""
    visibility: Visibility = "tenant"
    """`private`: nobody else sees it. A fork of a private session is always private. Absent: the deployment's default.
    """
    prompts: Annotated[dict[str, int], InRequests(PromptVersions)] = Field(default_factory=dict)
    """For admins: versions of managed prompts to try in this session, by name, instead of those in force. Absent: none,
    also in a fork of a session that tries some."""

    def kept(self) -> dict[str, Any]:
        """The settings alone, as fields of a head."""
        return {name: getattr(self, name) for name in SessionSettings.model_fields}


NO_SETTINGS = SessionSettings.model_construct()
"""Made without a validator, which would be built at every cold start."""
