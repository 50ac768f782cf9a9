"""How long the model may take: what is left of the Lambda's time once there is room to commit (design §9)."""

COMMIT_SECONDS = 8
"""Kept back from the model for reading and committing."""
LEAST_SECONDS = 1.0


def model_seconds(remaining_ms: int, deadline_seconds: float) -> float:
    """`remaining_ms`: of the invocation; `deadline_seconds`: the setting, which may allow less, never more."""
    return max(LEAST_SECONDS, min(deadline_seconds, remaining_ms / 1_000 - COMMIT_SECONDS))
