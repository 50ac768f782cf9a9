"""Acta's own client signs in to the local stack as it does to any issuer; nobody else gets a code or a token."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import jwt
import pytest

from acta.client.errors import SignInEndedError, SignInError
from acta.client.sign_in.oidc import Application, AuthorizationRequest, Endpoints, TokenSet
from acta.client.sign_in.oidc import IssuerClient as Provider
from acta.client.sign_in.store import SignIn, Store
from acta.client.sign_in.stored_tokens import StoredTokens
from acta.infra.api.issuers import RENEWAL_GRACE_SECONDS
from acta.infra.local.issuer import CLIENT_ID, LocalIssuer, PageLinks, Person, SignInPage, SignIns
from acta.local_aws.peers import Peer
from acta.local_aws.reverse_proxy import Front
from acta.local_aws.testing import needs_another_user, sent_by_another_user

HERE = "http://127.0.0.1:22820/callback"


@pytest.fixture
def front() -> Iterator[Front]:
    running = Front()
    yield running
    running.stop()


@pytest.fixture
def issuer(front: Front, tmp_path: Path) -> LocalIssuer:
    made = LocalIssuer.from_state(tmp_path, front.url)
    front.publish(made.documents(), SignInPage(made, tmp_path))
    return made


@pytest.fixture
def browser() -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False) as made:
        yield made


@pytest.fixture
def provider(issuer: LocalIssuer, browser: httpx2.Client) -> Provider:
    return Provider(Application(issuer.url, CLIENT_ID), browser)


def fields(page: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {name: unescape(value) for name, value in found}


def signed_in(browser: httpx2.Client, address: str, *roles: str) -> Mapping[str, str]:
    """What the person's browser brings to the command line."""
    page = browser.get(address)
    assert page.status_code == 200
    form = urlencode(
        [*fields(page.text).items(), ("tenant", "acme"), ("user", "ann"), *(("role", r) for r in roles)]
    )
    answer = browser.post(
        str(httpx2.URL(address).join("/oauth2/authorize")),
        content=form,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code == 302, answer.text
    location = urlsplit(answer.headers["Location"])
    assert f"{location.scheme}://{location.netloc}{location.path}" == HERE
    return dict(parse_qsl(location.query))


def begun(provider: Provider) -> tuple[Endpoints, AuthorizationRequest, str]:
    endpoints, attempt = provider.endpoints(), AuthorizationRequest()
    return endpoints, attempt, provider.address_to_open(endpoints, attempt, HERE)


def tokens_of(provider: Provider, browser: httpx2.Client, *roles: str) -> tuple[Endpoints, TokenSet]:
    endpoints, attempt, address = begun(provider)
    code = provider.code(endpoints, attempt, signed_in(browser, address, *roles))
    return endpoints, provider.exchange(endpoints, attempt, code, HERE)


def test_who_signs_in_gets_the_token_that_the_api_takes_and_the_next_one(
    provider: Provider, browser: httpx2.Client, issuer: LocalIssuer
) -> None:
    endpoints, tokens = tokens_of(provider, browser, "admin")
    for each in (tokens, provider.refresh(endpoints, tokens)):
        claims = jwt.decode(
            each.token, issuer.key.public_key(), algorithms=["RS256"], audience="acta", issuer=issuer.url
        )
        assert (claims["tenant"], claims["sub"], claims["roles"]) == ("acme", "ann", '["admin", "member"]')


def test_what_renews_a_sign_in_is_no_token_of_the_api(
    provider: Provider, browser: httpx2.Client, issuer: LocalIssuer
) -> None:
    endpoints, tokens = tokens_of(provider, browser)
    with pytest.raises(jwt.DecodeError):
        jwt.decode(str(tokens.refresh_token), options={"verify_signature": False})
    for wrong in (tokens.token, "x", issuer.issue_token("acme", "ann", "admin")):
        with pytest.raises(SignInEndedError):
            provider.refresh(endpoints, TokenSet("t", 0, "ann", wrong))


def test_a_refresh_token_is_exchanged_for_the_next_and_works_again_only_for_a_moment(
    issuer: LocalIssuer, tmp_path: Path
) -> None:
    """For a client that has not received the answer. The sign-in ends when it would have without any exchange."""
    begun = datetime.now(UTC)
    sign_ins, person = SignIns(tmp_path), Person("acme", "ann", ("admin",))
    first = sign_ins.begin(person, begun)
    a_day_later = begun + timedelta(days=1)
    renewed = sign_ins.renew(first, a_day_later)
    again = sign_ins.renew(first, a_day_later + timedelta(seconds=RENEWAL_GRACE_SECONDS - 1))
    assert renewed is not None
    assert again is not None
    assert renewed[0] == again[0] == person
    assert len({first, renewed[1], again[1]}) == 3
    assert sign_ins.renew(first, a_day_later + timedelta(seconds=RENEWAL_GRACE_SECONDS + 1)) is None
    after_a_restart = SignIns(tmp_path)
    for each in (renewed[1], again[1]):
        assert after_a_restart.renew(each, begun + timedelta(days=29)) is not None
        assert after_a_restart.renew(each, begun + timedelta(days=31)) is None


def test_a_revoked_sign_in_is_renewed_by_none_of_its_tokens_and_no_other_one_is_ended(
    provider: Provider, browser: httpx2.Client
) -> None:
    endpoints, tokens = tokens_of(provider, browser)
    _, others = tokens_of(provider, browser)
    following = provider.refresh(endpoints, tokens)
    guessed = TokenSet("t", 0, "ann", str(others.refresh_token).partition(".")[0] + ".guessed")
    assert provider.revoke(endpoints, guessed)
    assert provider.revoke(endpoints, following)
    for each in (tokens, following):
        with pytest.raises(SignInEndedError):
            provider.refresh(endpoints, each)
    assert provider.refresh(endpoints, others).refresh_token != others.refresh_token


def test_the_command_line_goes_on_after_an_answer_of_the_issuer_that_it_has_lost(
    provider: Provider, browser: httpx2.Client, tmp_path: Path
) -> None:
    """As a process that was killed before it could store the next refresh token."""
    endpoints, tokens = tokens_of(provider, browser)
    store = Store(tmp_path)
    old = replace(tokens, expires_at=0.0)
    store.write("local", SignIn(provider.application.issuer, provider.application, old))
    provider.refresh(endpoints, tokens)
    StoredTokens(store, "local").token()
    kept = store.read("local")
    assert kept is not None
    assert kept.tokens is not None
    assert kept.tokens.refresh_token != tokens.refresh_token
    assert provider.refresh(endpoints, kept.tokens).refresh_token


def test_only_the_owner_reads_what_is_kept_of_sign_ins_and_no_file_has_a_token(
    provider: Provider, browser: httpx2.Client, tmp_path: Path
) -> None:
    _, tokens = tokens_of(provider, browser)
    (kept,) = (tmp_path / "sign-ins").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert (tmp_path / "sign-ins").stat().st_mode & 0o077 == 0
    assert str(tokens.refresh_token) not in kept.read_text()


def test_a_code_is_of_use_once_to_who_has_the_verifier(provider: Provider, browser: httpx2.Client) -> None:
    endpoints, attempt, address = begun(provider)
    code = provider.code(endpoints, attempt, signed_in(browser, address))
    with pytest.raises(SignInEndedError):
        provider.exchange(endpoints, AuthorizationRequest(nonce=attempt.nonce), code, HERE)
    with pytest.raises(SignInEndedError):
        provider.exchange(endpoints, attempt, code, HERE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("redirect_uri", "http://evil.example/callback"),
        ("redirect_uri", "http://127.0.0.1:22820@evil.example/callback"),
        ("redirect_uri", "http://127.0.0.1:22820/other"),
        ("redirect_uri", "http://127.0.0.1:no/callback"),
        ("client_id", "other"),
        ("code_challenge_method", "plain"),
        ("code_challenge", ""),
        ("response_type", "token"),
    ],
)
def test_nothing_is_asked_and_no_code_is_sent_for_another_client(
    provider: Provider, browser: httpx2.Client, name: str, value: str
) -> None:
    _, _, address = begun(provider)
    asked = {**dict(parse_qsl(urlsplit(address).query)), name: value}
    where = address.partition("?")[0]
    assert browser.get(f"{where}?{urlencode(asked)}").status_code == 400
    answer = browser.post(where, data={**asked, "tenant": "acme", "user": "ann"})
    assert (answer.status_code, answer.headers.get("Location")) == (400, None)


def test_another_page_signs_nobody_in_and_what_it_gives_is_text(
    provider: Provider, browser: httpx2.Client
) -> None:
    _, _, address = begun(provider)
    asked = dict(parse_qsl(urlsplit(address).query))
    where = address.partition("?")[0]
    form = {**asked, "tenant": "acme", "user": "ann"}
    assert browser.post(where, data=form, headers={"Origin": "https://evil.example"}).status_code == 403
    page = browser.get(f"{where}?{urlencode({**asked, 'state': '<script>'})}")
    assert "<script>" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_the_browser_s_answer_belongs_to_one_attempt(provider: Provider, browser: httpx2.Client) -> None:
    endpoints, _, address = begun(provider)
    with pytest.raises(SignInError):
        provider.code(endpoints, AuthorizationRequest(), signed_in(browser, address))


@pytest.fixture
def strangers(issuer: LocalIssuer, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LocalIssuer]:
    """The stack as one sees it of whom this machine says `request.param`."""
    peer: Peer = request.param
    theirs = Front(look=lambda _: peer)
    made = LocalIssuer.from_state(tmp_path, theirs.url)
    theirs.publish(made.documents(), SignInPage(made, tmp_path))
    yield made
    theirs.stop()


@pytest.mark.parametrize("strangers", [Peer.OTHER, Peer.UNKNOWN], indirect=True, ids=str)
def test_a_program_that_is_not_the_owners_is_not_asked_who_it_is_and_gets_no_code(
    strangers: LocalIssuer, browser: httpx2.Client
) -> None:
    _, _, address = begun(Provider(Application(strangers.url, CLIENT_ID), browser))
    asked = dict(parse_qsl(urlsplit(address).query))
    page = browser.get(address)
    assert (page.status_code, "acta console" in page.text) == (403, True)
    answer = browser.post(address.partition("?")[0], data={**asked, "tenant": "acme", "user": "ann"})
    assert (answer.status_code, answer.headers.get("Location")) == (403, None)


@pytest.mark.parametrize("strangers", [Peer.OTHER], indirect=True, ids=str)
def test_another_user_has_no_use_of_a_link_that_they_saw(
    strangers: LocalIssuer, issuer: LocalIssuer, browser: httpx2.Client, tmp_path: Path
) -> None:
    """As among the arguments of a browser that was told to open it."""
    link = PageLinks(tmp_path).make(strangers.url, "acme", "ann", ("admin",))
    assert by_link(browser, strangers, link).status_code == 403
    assert by_link(browser, issuer, link).status_code == 200


@pytest.mark.parametrize("strangers", [Peer.UNKNOWN], indirect=True, ids=str)
def test_a_link_is_a_secret_where_the_machine_does_not_say_who_has_it(
    strangers: LocalIssuer, browser: httpx2.Client, tmp_path: Path
) -> None:
    link = PageLinks(tmp_path).make(strangers.url, "acme", "ann", ("admin",))
    assert by_link(browser, strangers, link).status_code == 200


@needs_another_user
def test_another_user_of_the_machine_signs_in_as_nobody(
    issuer: LocalIssuer, front: Front, provider: Provider
) -> None:
    _, _, address = begun(provider)
    form = urlencode(
        [*parse_qsl(urlsplit(address).query), ("tenant", "acme"), ("user", "ann"), ("role", "admin")]
    )
    head = f"POST /oauth2/authorize HTTP/1.1\r\nHost: 127.0.0.1:{front.port}\r\nConnection: close\r\n"
    kind = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\n\r\n"
    answer = sent_by_another_user(front.port, f"{head}{kind}{form}".encode())
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"Location" not in answer


def by_link(browser: httpx2.Client, issuer: LocalIssuer, link: str) -> httpx2.Response:
    form = urlencode({"grant_type": "urn:acta:link", "code": link.partition("#code=")[2]})
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    return browser.post(f"{issuer.url}/oauth2/token", content=form, headers=kind)


def test_a_link_signs_one_person_in_once(issuer: LocalIssuer, browser: httpx2.Client, tmp_path: Path) -> None:
    link = PageLinks(tmp_path).make(issuer.url, "acme", "ann", ("admin",))
    granted = by_link(browser, issuer, link)
    claims = jwt.decode(granted.json()["id_token"], options={"verify_signature": False})
    assert (claims["tenant"], claims["sub"], "admin" in claims["roles"]) == ("acme", "ann", True)
    assert by_link(browser, issuer, link).status_code == 400


def test_a_link_is_of_use_for_a_minute(issuer: LocalIssuer, browser: httpx2.Client, tmp_path: Path) -> None:
    an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
    old = PageLinks(tmp_path).make(issuer.url, "acme", "ann", ("member",), now=an_hour_ago)
    assert by_link(browser, issuer, old).status_code == 400
    assert by_link(browser, issuer, f"{issuer.url}/console/inbox#code=guessed").status_code == 400


def test_nobody_but_the_owner_reads_whom_links_stand_for_and_no_file_has_a_code(
    issuer: LocalIssuer, tmp_path: Path
) -> None:
    code = PageLinks(tmp_path).make(issuer.url, "acme", "ann", ("member",)).partition("#code=")[2]
    (kept,) = (tmp_path / "page-links").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert (tmp_path / "page-links").stat().st_mode & 0o077 == 0
    assert code not in kept.read_text() + kept.name


def test_a_code_goes_to_the_stacks_own_page_too_and_a_browser_says_where_the_form_came_from(
    issuer: LocalIssuer, provider: Provider, browser: httpx2.Client
) -> None:
    endpoints, attempt = provider.endpoints(), AuthorizationRequest()
    own = f"{issuer.url}/console/signed-in"
    assert browser.get(provider.address_to_open(endpoints, attempt, own)).status_code == 200
    page = browser.get(provider.address_to_open(endpoints, attempt, HERE))
    assert page.headers["Referrer-Policy"] == "same-origin"
    for elsewhere in ("http://127.0.0.1:1/console/signed-in", f"{issuer.url}/console/inbox"):
        assert browser.get(provider.address_to_open(endpoints, attempt, elsewhere)).status_code == 400
