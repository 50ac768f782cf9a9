"""What an agent may decide beforehand, and what it never may (docs/design/people.md 8)."""

from typing import get_args

import pytest
from pydantic import ValidationError

from acta.engine.people.policies import (
    DEFAULTS,
    HOURLY_OPTIONS,
    NEEDS_INPUT,
    OPTIONS,
    STUCK_OPTIONS,
    InterventionType,
    Policy,
    default_problem,
)

TYPES: tuple[InterventionType, ...] = get_args(InterventionType)
OFFERED = [(type, option) for type in TYPES for option in OPTIONS[type]]


@pytest.mark.parametrize(("type", "option"), OFFERED)
def test_an_option_is_a_default_where_it_needs_no_input_and_approves_nothing(
    type: InterventionType, option: str
) -> None:
    allowed = option not in NEEDS_INPUT and option != "approve"
    assert (default_problem(type, option) is None) == allowed


def test_why_a_default_may_not_approve_is_said_in_words_with_what_may_be_instead() -> None:
    for option in ("approve", "modify"):
        assert default_problem("approval_required", option) == (
            "A default never approves a high-stakes call: only a person does. A default is one of: reject."
        )
    assert default_problem("budget_exceeded", "raise") == (
        "raise needs an input that only a person can give. A default is one of: finish, cancel."
    )
    assert default_problem("checkpoint_review", "approve") == (
        "checkpoint_review has no such option. A default is one of: continue, cancel."
    )


@pytest.mark.parametrize("type", TYPES)
def test_every_type_s_own_default_is_one_it_could_be_given(type: InterventionType) -> None:
    assert default_problem(type, DEFAULTS[type]) is None


@pytest.mark.parametrize("forged", ["approve", "modify"])
def test_a_stored_default_that_approves_means_nothing(forged: str) -> None:
    policy = Policy(default_action=forged)
    assert (
        policy.default_for("approval_required", OPTIONS["approval_required"], is_about_call=True) == "reject"
    )


def test_a_call_that_may_have_happened_is_never_repeated_by_itself() -> None:
    policy = Policy(default_action="retry")
    assert policy.default_for("error_recovery", OPTIONS["error_recovery"], is_about_call=True) == "cancel"
    assert policy.default_for("error_recovery", STUCK_OPTIONS, is_about_call=False) == "retry"


def test_a_default_holds_only_where_it_is_among_the_options() -> None:
    assert (
        Policy(default_action="skip").default_for("error_recovery", STUCK_OPTIONS, is_about_call=False)
        == "cancel"
    )
    assert Policy().default_for("budget_exceeded", HOURLY_OPTIONS, is_about_call=False) == "finish"


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout_seconds": 0},
        {"timeout_seconds": 2_592_001},
        {"role": ""},
        {"role": "two words"},
        {"role": "x" * 65},
        {"default_action": ""},
        {"approve": True},
    ],
)
def test_a_policy_is_bounded(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Policy.model_validate(wrong)
