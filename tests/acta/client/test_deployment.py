import pytest

from acta.client.deployment import Deployment
from acta.client.errors import InvalidDeploymentError


@pytest.mark.parametrize(
    "url", ["http://", "http://exa mple", "http://[::1", "http://h:99999", "ftp://h", "h:80"]
)
def test_an_unusable_url_is_one_clear_line(url: str) -> None:
    with pytest.raises(InvalidDeploymentError, match="must be an http or https URL"):
        Deployment(url, "a.b.c")


@pytest.mark.parametrize(
    "url",
    [
        "http://acta.example", "http://10.0.0.5:8080", "HTTP://acta.example", "http://localhost.evil.example",
        "http://127.0.0.1.evil.example", "http://127.0.0.1@evil.example", "http://0.0.0.0", "http://[fe80::1]",
    ],
)  # fmt: skip
def test_a_token_goes_over_http_to_this_machine_only(url: str) -> None:
    with pytest.raises(InvalidDeploymentError, match="not encrypted") as refused:
        Deployment(url, "a.b.c")
    assert "a.b.c" not in str(refused.value)
    assert Deployment(url, "a.b.c", insecure=True).api_url == url


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:5", "http://127.8.0.1", "http://localhost:80", "http://[::1]:8080"]
)
def test_the_local_stack_needs_no_encryption(url: str) -> None:
    assert Deployment(url, "a.b.c").api_url == url


@pytest.mark.parametrize("token", ["", " ", "two words", "naïve", "a\x00b"])
def test_a_malformed_token_is_refused_without_quoting_it(token: str) -> None:
    with pytest.raises(InvalidDeploymentError, match="the token is malformed") as refused:
        Deployment("http://127.0.0.1:1", token)
    assert not token.strip() or token not in str(refused.value)


def test_a_token_from_a_file_may_end_in_a_line_break_and_is_not_shown() -> None:
    deployment = Deployment("http://127.0.0.1:1", "a.b.c\n")
    assert deployment.token == "a.b.c"
    assert "a.b.c" not in repr(deployment)


def test_a_deployment_is_found_in_the_environment() -> None:
    environ = {"ACTA_API_URL": "https://acta.example", "ACTA_TOKEN": "a.b.c"}
    assert Deployment.from_environ(environ) == Deployment("https://acta.example", "a.b.c")


@pytest.mark.parametrize("missing", ["ACTA_API_URL", "ACTA_TOKEN"])
def test_an_environment_without_url_or_token_is_refused_with_what_is_missing(missing: str) -> None:
    environ = {"ACTA_API_URL": "https://acta.example", "ACTA_TOKEN": "a.b.c"}
    with pytest.raises(InvalidDeploymentError, match=missing):
        Deployment.from_environ({**environ, missing: ""})
