"""What is kept of sign-ins: for its owner alone, whole, and one file for each environment."""

import json
import stat
from pathlib import Path

import pytest

from acta.client.errors import SignInError
from acta.client.sign_in.oidc import Application, TokenSet
from acta.client.sign_in.store import SignIn, Store, folder

SIGN_IN = SignIn(
    "https://api.example",
    Application("https://issuer.example", "cli", "openid email", "access_token"),
    TokenSet("a.b.c", 1_700_000_000.5, "ann", "refresh"),
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.read("prod") is None
    store.write("prod", SIGN_IN)
    assert store.read("prod") == SIGN_IN
    assert store.read("dev") is None
    assert store.environments() == ["prod"]


def test_nobody_else_on_the_machine_can_read_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "acta")
    with store.locked("prod"):
        store.write("prod", SIGN_IN)
    kept = list((tmp_path / "acta" / "environments").iterdir())
    assert {path.name for path in kept} == {"prod.json", "prod.lock"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert stat.S_IMODE((tmp_path / "acta" / "environments").stat().st_mode) == 0o700


def test_a_file_that_others_could_read_is_replaced_by_one_that_they_cannot(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("prod", SIGN_IN)
    path = tmp_path / "environments" / "prod.json"
    path.chmod(0o644)
    store.write("prod", SIGN_IN)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "environments" / "prod.json").mkdir(parents=True)
    with pytest.raises(SignInError, match="cannot be written"):
        store.write("prod", SIGN_IN)
    assert [path.name for path in (tmp_path / "environments").iterdir()] == ["prod.json"]


def test_signing_out_keeps_the_address_and_no_token(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("prod", SIGN_IN)
    assert store.sign_out("prod") == SIGN_IN
    assert store.read("prod") == SignIn(SIGN_IN.api_url, SIGN_IN.application)
    text = (tmp_path / "environments" / "prod.json").read_text()
    assert "a.b.c" not in text
    assert '"refresh"' not in text
    assert store.sign_out("dev") is None


@pytest.mark.parametrize(
    "name", ["../prod", "prod/../x", "", ".", "Prod", "a b", "prod\n", "p" * 101, "prod.json"]
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SignInError, match="an environment's name"):
        Store(tmp_path).read(name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1, "api_url": "x", "application": {}, "tokens": null}',
    ],
)
def test_a_damaged_file_is_one_clear_line_that_quotes_nothing_of_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments" / "prod.json").write_text(text)
    with pytest.raises(SignInError, match="is damaged: delete it"):
        Store(tmp_path).read("prod")


def test_an_issuer_that_was_written_in_by_hand_is_checked_as_any_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("prod", SIGN_IN)
    path = tmp_path / "environments" / "prod.json"
    stored = json.loads(path.read_text())
    stored["application"]["issuer"] = "http://evil.example"
    path.write_text(json.dumps(stored))
    with pytest.raises(SignInError, match="https://"):
        store.read("prod")


def test_the_folder_is_the_one_of_the_standard(tmp_path: Path) -> None:
    assert folder({"XDG_CONFIG_HOME": str(tmp_path), "HOME": "/home/ann"}) == tmp_path / "acta"
    assert folder({"HOME": "/home/ann"}) == Path("/home/ann/.config/acta")
    assert folder({"XDG_CONFIG_HOME": "relative", "HOME": "/home/ann"}) == Path("/home/ann/.config/acta")
