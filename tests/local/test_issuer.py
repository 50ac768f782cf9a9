import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import pytest

from acta.engine.api.role_claims import RoleRules, roles_from
from acta.infra.environments import LOCAL
from acta.infra.local.issuer import AUDIENCE, KEY_FILE, LocalIssuer

URL = "http://127.0.0.1:8080"


@pytest.fixture(scope="module")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def issuer(state_dir: Path) -> LocalIssuer:
    return LocalIssuer.from_state(state_dir, URL)


def verify(issuer: LocalIssuer, token: str) -> dict[str, object]:
    """As a stranger does: with nothing but the published documents."""
    keys = jwt.PyJWKSet.from_json(issuer.documents()["/.well-known/jwks.json"].decode())
    key = keys[jwt.get_unverified_header(token)["kid"]]
    claims: dict[str, object] = jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=URL)
    return claims


def granted(issuer: LocalIssuer, token: str) -> list[str]:
    """As the API of a local stack reads the claim, which the gateway hands over as it is."""
    assert LOCAL.roles_are_json
    return sorted(roles_from(verify(issuer, token)["roles"], RoleRules(are_json=True)))


def test_a_token_verifies_with_the_published_key(issuer: LocalIssuer) -> None:
    claims = verify(issuer, issuer.issue_token("acme", "ann", "member"))
    assert (claims["tenant"], claims["sub"], claims["roles"]) == ("acme", "ann", '["member"]')


def test_an_admin_and_an_approver_are_members_too_and_not_each_other(issuer: LocalIssuer) -> None:
    assert verify(issuer, issuer.issue_token("acme", "ann", "admin"))["roles"] == '["admin", "member"]'
    assert granted(issuer, issuer.issue_token("acme", "ann", "admin")) == ["admin", "member"]
    assert granted(issuer, issuer.issue_token("acme", "ann", "approver")) == ["approver", "member"]


def test_roles_that_agents_name_are_granted_together_and_once(issuer: LocalIssuer) -> None:
    token = issuer.issue_token("acme", "ann", ("member", "finance", "legal:eu", "finance"))
    assert granted(issuer, token) == ["finance", "legal:eu", "member"]
    assert verify(issuer, issuer.issue_token("acme", "ann", ()))["roles"] == '["member"]'


def test_a_token_ends_when_its_time_is_over(issuer: LocalIssuer) -> None:
    long_ago = datetime.now(UTC) - timedelta(hours=2)
    with pytest.raises(jwt.ExpiredSignatureError):
        verify(issuer, issuer.issue_token("acme", "ann", "member", ttl=3_600, now=long_ago))


def test_the_key_is_made_once_and_readable_by_its_owner_only(issuer: LocalIssuer, state_dir: Path) -> None:
    assert LocalIssuer.from_state(state_dir, URL).key_id == issuer.key_id
    assert stat.S_IMODE((state_dir / KEY_FILE).stat().st_mode) == 0o600


def test_another_stack_has_another_key(issuer: LocalIssuer, tmp_path: Path) -> None:
    stranger = LocalIssuer.from_state(tmp_path, URL)
    assert stranger.key_id != issuer.key_id
    with pytest.raises(KeyError):
        verify(issuer, stranger.issue_token("acme", "ann", "admin"))


def test_the_configuration_points_at_the_keys(issuer: LocalIssuer) -> None:
    configuration = json.loads(issuer.documents()["/.well-known/openid-configuration"])
    assert configuration["issuer"] == URL
    assert configuration["jwks_uri"] == f"{URL}/.well-known/jwks.json"


def test_the_published_key_is_public(issuer: LocalIssuer) -> None:
    (key,) = json.loads(issuer.documents()["/.well-known/jwks.json"])["keys"]
    assert set(key) <= {"kty", "n", "e", "kid", "alg", "use", "key_ops"}


def test_no_two_tokens_are_the_same(issuer: LocalIssuer) -> None:
    """A client takes the next token for a new one, also within the second in which the last one was made."""
    now = datetime.now(UTC)
    assert issuer.issue_token("acme", "ann", "admin", now=now) != issuer.issue_token(
        "acme", "ann", "admin", now=now
    )
