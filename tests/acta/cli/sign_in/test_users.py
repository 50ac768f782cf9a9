"""`acta users`: what is asked of the pool, and what is said. The pool itself is tried in the local AWS
(`tests/user_pool/test_cognito.py`)."""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from acta.cli.commands.grammar import parse
from acta.cli.exit_codes import CliError
from acta.cli.main import ACTA
from acta.cli.sign_in import add_user, end_user, list_users
from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import AwsDenied, StoreUnavailable
from acta.infra.deployed.operator_trail import OperatorTrail
from acta.infra.deployed.users import NoSuchUser, OtherTenant, User
from acta.testing.clock import FakeClock
from tests.doubles.audit import MemoryTrail

OUTPUTS = {
    "ApiUrl": "https://api.example",
    "Issuer": "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_pool",
    "SignInClient": "client",
    "UserPoolId": "eu-west-1_pool",
}


class FakeUsers:
    """`Users` in memory. `invited`: who was sent a first password."""

    def __init__(self) -> None:
        self.kept: dict[str, User] = {}
        self.invited: list[str] = []
        self.signed_out: list[str] = []
        self.fails: Exception | None = None
        self.trail, self.clock = MemoryTrail(), FakeClock()

    def find(self, email: str) -> Mapping[str, str]:
        if email not in self.kept:
            raise NoSuchUser(email)
        return {"custom:tenant": self.kept[email].tenant, "sub": self.kept[email].subject}

    def add(self, email: str, tenant: str, roles: Sequence[str], *, invite: bool = True) -> bool:
        if self.fails is not None:
            raise self.fails
        before = self.kept.get(email)
        if before is not None and before.tenant != tenant:
            raise OtherTenant(before.tenant)
        self.invited += [email] if invite and before is None else []
        had = before.roles if before is not None else ()
        self.kept[email] = User(email, tenant, tuple(sorted({*had, *roles})), f"sub-{email}", "CONFIRMED")
        return before is None

    def list(self) -> Iterator[User]:
        yield from self.kept.values()

    def sign_out(self, email: str) -> None:
        if email not in self.kept:
            raise NoSuchUser(email)
        self.signed_out.append(email)

    def remove(self, email: str) -> None:
        self.sign_out(email)
        del self.kept[email]


@pytest.fixture
def users() -> FakeUsers:
    return FakeUsers()


def parsed(*words: str) -> Namespace:
    found = parse(ACTA, ["users", *words, "--env", "prod"])
    assert isinstance(found, Namespace)
    return found


def run(function: Any, users: FakeUsers, *words: str) -> int:
    def opens(environment: str) -> tuple[FakeUsers, Mapping[str, str], OperatorTrail]:
        assert environment == "prod"
        trail: Any = users.trail
        return (
            users,
            OUTPUTS,
            OperatorTrail(trail, users.clock, lambda tenant, user: f"p_{tenant}_{user}", lambda: "me"),
        )

    return int(function(parsed(*words), opens))


def test_a_person_is_added_as_a_member_and_told_how_to_sign_in(
    users: FakeUsers, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(add_user, users, "add", "ann@example.com", "--tenant", "acme") == 0
    assert users.kept["ann@example.com"].roles == ("member",)
    assert users.invited == ["ann@example.com"]
    shown = capsys.readouterr().out
    assert "gets a first password by email" in shown
    assert "login --env prod --url https://api.example --issuer" in shown


def test_who_was_added_signed_out_or_removed_is_in_the_trail_of_their_tenant_by_pseudonym(
    users: FakeUsers,
) -> None:
    for function, words in (
        (add_user, ("add", "ann@example.com", "--tenant", "acme", "--role", "admin")),
        (end_user, ("sign-out", "ann@example.com")),
        (end_user, ("remove", "ann@example.com")),
    ):
        assert run(function, users, *words) == 0
    ended = [each for each in users.trail.records["acme"] if each.outcome == "done"]
    person = "p_acme_sub-ann@example.com"
    assert [(each.action, dict(each.details)) for each in ended] == [
        ("user.add", {"roles": "admin", "person": person}),
        ("user.sign_out", {"person": person}),
        ("user.remove", {"person": person}),
    ]
    assert {(each.who, each.roles) for each in ended} == {("p_acme_me", ("operator",))}


def test_roles_add_up_and_the_tenant_never_changes(
    users: FakeUsers, capsys: pytest.CaptureFixture[str]
) -> None:
    run(add_user, users, "add", "ann@example.com", "--tenant", "acme", "--no-email")
    assert users.invited == []
    run(add_user, users, "add", "ann@example.com", "--tenant", "acme", "--role", "admin", "--role", "finance")
    assert users.kept["ann@example.com"].roles == ("admin", "finance", "member")
    assert "was there" in capsys.readouterr().out
    with pytest.raises(CliError, match=r"belongs to the tenant acme, .*acta users remove ann@example\.com"):
        run(add_user, users, "add", "ann@example.com", "--tenant", "other")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ann", "--tenant", "acme"], "an email address"),
        (["ann@example.com", "--tenant", "a/b"], "1 to 64"),
        (["ann@example.com", "--tenant", "t" * 65], "1 to 64"),
        (["ann@example.com", "--tenant", "acme", "--role", "Billing admin"], "1 to 64"),
    ],
)
def test_what_the_api_would_not_take_is_refused_before_anybody_is_made(
    users: FakeUsers, words: list[str], says: str
) -> None:
    with pytest.raises(CliError, match=says):
        run(add_user, users, "add", *words)
    assert users.kept == {}


def test_people_are_listed_by_tenant(users: FakeUsers, capsys: pytest.CaptureFixture[str]) -> None:
    for email, tenant in (("zoe@example.com", "acme"), ("ann@example.com", "acme"), ("bob@example.com", "b")):
        run(add_user, users, "add", email, "--tenant", tenant)
    capsys.readouterr()
    run(list_users, users, "list", "--tenant", "acme")
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["ann@example.com", "zoe@example.com"]
    run(list_users, users, "list", "--json")
    told = json.loads(capsys.readouterr().out)
    assert [each["tenant"] for each in told] == ["acme", "acme", "b"]
    assert told[0]["subject"] == "sub-ann@example.com"


def test_somebody_is_signed_out_everywhere_and_stays_a_user(
    users: FakeUsers, capsys: pytest.CaptureFixture[str]
) -> None:
    run(add_user, users, "add", "ann@example.com", "--tenant", "acme")
    assert run(end_user, users, "sign-out", "ann@example.com") == 0
    assert "signed out everywhere; a token that they have is valid to its end" in capsys.readouterr().out
    assert (users.signed_out, list(users.kept)) == (["ann@example.com"], ["ann@example.com"])
    with pytest.raises(CliError, match=r"no user bob@example\.com"):
        run(end_user, users, "sign-out", "bob@example.com")


def test_somebody_is_removed_once(users: FakeUsers, capsys: pytest.CaptureFixture[str]) -> None:
    run(add_user, users, "add", "ann@example.com", "--tenant", "acme")
    assert run(end_user, users, "remove", "ann@example.com") == 0
    assert "is removed; a token that they have is valid to its end" in capsys.readouterr().out
    with pytest.raises(CliError, match=r"no user ann@example\.com"):
        run(end_user, users, "remove", "ann@example.com")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (AwsDenied("admin_create_user: AccessDeniedException"), r"docs/sign-in\.md"),
        (StoreUnavailable("admin_create_user: ReadTimeoutError"), "run the same command again"),
        (AwsRefused("admin_create_user", "InvalidParameterException"), "AWS refused it"),
    ],
)
def test_what_aws_refuses_says_what_to_do(users: FakeUsers, error: Exception, says: str) -> None:
    users.fails = error
    with pytest.raises(CliError, match=says):
        run(add_user, users, "add", "ann@example.com", "--tenant", "acme")
