"""The version of what is stored, and the fields that each version adds (design §6.7).

A release reads its own version, older ones, and the next one. It writes `CURRENT`, or the version before it while
Lambdas of the release before it may still run (`ACTA_WRITE_VERSION`). So old and new Lambdas work on the same sessions.

To add a field to a stored model: give it a default that means what its absence means, and name it in `ADDED`, under the
model's name and the version that no release has written yet. A nested model that is new needs no entry: it is reached
through its field. A field that is to start with something else than its default gets an upcaster (`convert.py`).
Nothing stored is renamed, removed or narrowed, and an existing field gets no new kind of value that the release before
cannot read: `tests/contracts/releases` compares all that with the fields that release has.
"""

from collections.abc import Mapping
from types import MappingProxyType

CURRENT = 2
"""What this release writes once the release before it is gone."""
NEXT = CURRENT + 1
"""The newest version that is read: fields that are unknown are kept and written back."""
PREVIOUS = CURRENT - 1
"""The oldest version that is written."""

ADDED: Mapping[int, Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        2: {
            "AgentDefinition": frozenset({"applied", "background", "caps", "output_schema", "start_roles"}),
            "Budget": frozenset({"settled", "charged_tokens", "window_ends", "window_base"}),
            "Limits": frozenset({"at_token_limit"}),
            "Commit": frozenset({"failed_attempts"}),
            "Head": frozenset(
                {
                    "agent_name",
                    "background",
                    "counted",
                    "delay",
                    "forked_from",
                    "held",
                    "outage",
                    "output_schema",
                    "plan_edit",
                }
                | {"prompts", "read_outside", "tally", "visibility", "writers"}
            ),
            "ExecutionPlan": frozenset({"approved"}),
            "HttpConfig": frozenset({"parameters", "secret_headers"}),
            "Intervention": frozenset({"agent_name", "private_to"}),
            "Memory": frozenset({"origin", "only_for", "private"}),
            "OpenCall": frozenset({"asked", "task", "tool_written"}),
            "Policy": frozenset({"approver_must_differ"}),
            "Progress": frozenset({"wrong_answers"}),
            "Prompt": frozenset({"applied", "draft"}),
            "Result": frozenset({"answer_data"}),
            "Run": frozenset({"before", "parked"}),
            "StepRecord": frozenset({"estimated_tokens", "estimated_cost_usd", "fused"}),
            "ToolDefinition": frozenset({"applied", "approver_role", "approver_must_differ"}),
        }
    }
)
"""Version -> name of the model -> fields that the version adds."""


Fields = frozenset[tuple[str, str]]
"""Pairs of a model's name and a field's."""


def added_after(version: int) -> Fields:
    """The fields that readers of `version` do not know."""
    return frozenset(
        (model, field)
        for later, models in ADDED.items()
        if later > version
        for model, fields in models.items()
        for field in fields
    )
