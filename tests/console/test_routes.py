"""The function `console`: the page for people, and what it says of signing in."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from acta.engine.api.app import Api
from acta.engine.app import App
from acta.engine.settings import Settings
from tests.api.gateway import Gateway

HTML = "<!doctype html><style>a{}</style><script>1</script>"


def settings(**how: str) -> Settings:
    return Settings(env="test", table="none", bucket="none", **how)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    def hashed(text: str) -> str:
        return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    (tmp_path / "page.html.gz").write_bytes(gzip.compress(HTML.encode()))
    hashes = {"script": hashed("1"), "style": hashed("a{}"), "page": "of-this-release"}
    (tmp_path / "hashes.json").write_text(json.dumps(hashes))
    return tmp_path


def stranger(made: Path, **how: str) -> Gateway:
    return Gateway(Api("console", App(settings(**how), made=made)).handler, token=None)


@pytest.mark.parametrize("path", ["/console/inbox", "/console/sessions/ses_1", "/console/signed-in"])
def test_every_place_is_the_same_page(made: Path, path: str) -> None:
    answer = stranger(made).request("GET", path)
    assert (answer.status, answer.body.decode()) == (200, HTML)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


def test_what_an_issuer_adds_to_the_address_is_taken(made: Path) -> None:
    assert stranger(made).request("GET", "/console/signed-in", query="code=x&state=y&iss=z").status == 200


def test_the_policy_names_the_pages_own_script_and_style_and_the_issuers_origins(made: Path) -> None:
    connects = "https://issuer.example https://tokens.example"
    policy = (
        stranger(made, console_connects=connects)
        .request("GET", "/console/inbox")
        .headers["Content-Security-Policy"]
    )
    said = dict(each.split(" ", 1) for each in policy.split("; "))
    assert said["default-src"] == "'none'"
    assert said["connect-src"] == f"'self' {connects}"
    script = base64.b64encode(hashlib.sha256(b"1").digest()).decode()
    assert said["script-src"] == f"'sha256-{script}'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/=]{44}'", said["style-src"])
    assert said["trusted-types"] == "'none'"


def test_a_browser_that_has_the_page_is_told_that_it_is_still_the_one(made: Path) -> None:
    page = stranger(made).request("GET", "/console/inbox")
    assert page.headers["Cache-Control"] == "no-cache"
    for tag in (page.headers["ETag"], f"W/{page.headers['ETag']}", f'"other", {page.headers["ETag"]}'):
        again = stranger(made).request("GET", "/console/sessions", headers={"if-none-match": tag})
        assert (again.status, again.body) == (304, b"")
    older = stranger(made).request("GET", "/console/inbox", headers={"if-none-match": '"of-the-one-before"'})
    assert older.status == 200


def test_the_page_begins_at_the_inbox_and_a_slash_at_the_end_leads_there(made: Path) -> None:
    begun = stranger(made).request("GET", "/console")
    assert (begun.status, begun.headers["Location"]) == (302, "/console/inbox")
    slashed = Gateway(Api("fallback", App(settings(), made=made)).handler, token=None).request(
        "GET", "/console/"
    )
    assert (slashed.status, slashed.headers["Location"]) == (308, "/console")


def test_what_the_page_needs_to_sign_somebody_in_is_said_to_everybody(made: Path) -> None:
    known = {"console_issuer": "https://issuer.example", "console_client": "page"}
    said = stranger(made, **known).request("GET", "/console/sign-in.json").data
    assert said == {
        "issuer": "https://issuer.example",
        "client_id": "page",
        "scope": "openid",
        "takes": "id_token",
        "tenant_claim": "tenant",
        "environment": "test",
    }
