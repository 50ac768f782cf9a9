"""What the posture of an environment decides, and what it leaves to the operator."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from aws_cdk import App

from acta.engine.settings import Settings
from acta.infra.api.issuers import ExternalIssuer, OwnPool
from acta.infra.app import add_stacks
from acta.infra.environments import DEV, ENVIRONMENTS, LOCAL, PROD, STAGING
from acta.infra.lambdas.variables import of_environment
from acta.infra.posture import (
    POINTS,
    Point,
    Undecided,
    applies,
    as_text,
    decisions_of,
    settled,
    undecided,
    value_of,
    with_decisions,
)
from tests.infra.conftest import Synthesised

ROOT = Path(__file__).parents[2]


def point(option: str) -> Point:
    return next(each for each in POINTS if each.option == option)


def test_developers_environments_are_open_and_a_team_s_are_strict() -> None:
    assert {each.posture for each in (LOCAL, DEV)} == {"open"}
    assert {each.posture for each in (STAGING, PROD)} == {"strict"}


@pytest.mark.parametrize("option", [each.option for each in POINTS])
def test_a_point_that_the_operator_leaves_out_is_as_the_posture_says(option: str) -> None:
    for name, environment in ENVIRONMENTS.items():
        row = point(option)
        if applies(environment, row) and value_of(environment, row) is None:
            expected = row.open if name in ("local", "dev") else row.strict
            assert value_of(settled(environment), row) == expected


def test_a_value_of_the_environment_s_own_wins_in_both_postures() -> None:
    lax = settled(replace(PROD, auth=OwnPool(mfa="optional")))
    careful = settled(replace(DEV, default_visibility="private"))
    assert value_of(lax, point("auth.mfa")) == "optional"
    assert value_of(careful, point("default_visibility")) == "private"


def test_another_posture_changes_what_was_left_out() -> None:
    assert value_of(settled(replace(DEV, posture="strict")), point("auth.mfa")) == "required"


def test_an_issuer_of_the_operator_s_decides_about_second_factors_itself() -> None:
    own = replace(PROD, auth=ExternalIssuer("https://login.example.com", "acta"))
    assert not applies(own, point("auth.mfa"))
    assert settled(own).auth == own.auth


def test_a_strict_environment_without_its_operator_s_decisions_is_not_synthesised() -> None:
    with pytest.raises(Undecided, match=r'Who sees a session[^"]+default_visibility="private",\n'):
        add_stacks(App(), PROD)


def test_what_was_decided_stands_in_an_output_for_the_next_deployment(prod: Synthesised) -> None:
    kept = json.loads(prod.stateless.body["Outputs"]["Decided"]["Value"])
    assert kept == {
        "default_visibility": "tenant",
        "retention.ended_sessions": 0,
        "watch.emails": [],
        "tool_network": False,
    }
    assert undecided(with_decisions(PROD, kept)) == ()


def test_an_open_environment_keeps_no_decisions_that_a_strict_one_would_take_over() -> None:
    assert decisions_of(settled(DEV)) == {}


def test_what_is_seen_in_the_settings_is_a_setting() -> None:
    assert [
        each.option
        for each in POINTS
        if each.setting is not None and (each.setting or each.option) not in Settings.fields
    ] == []


def test_the_page_of_options_lists_the_points_as_they_are() -> None:
    lines = (ROOT / "docs/options.md").read_text(encoding="utf-8").splitlines()
    for each in POINTS:
        shown = ["you decide" if value is None else as_text(value) for value in (each.open, each.strict)]
        assert f"| `{each.option}` | {each.about} | {shown[0]} | {shown[1]} |" in lines


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("default_visibility", "everybody"),
        ("retention.ended_sessions", "for ever"),
        ("tool_network", "maybe"),
    ],
)
def test_a_decision_on_the_command_line_is_one_of_the_option_s_values(option: str, value: str) -> None:
    with pytest.raises(ValueError, match=option):
        with_decisions(settled(PROD), {option: value})


@pytest.mark.parametrize(
    "name", ["programs_decide", "default_visibility", "ended_sessions_days", "tenant_limits"]
)
def test_settings_cannot_say_another_thing_than_an_option(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        of_environment(replace(settled(DEV), settings={name: 0}))
