"""Providers of the deployment's own: an endpoint that the setting `providers` names is a provider like any other."""

from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Reply

from acta.engine.errors import ProviderKeyRefused, ProviderRejected
from acta.engine.models.choose import choose
from acta.engine.models.models_for_admins import ModelListing
from acta.engine.models.own_providers import own_providers
from acta.engine.models.providers import BUILT_IN, PROVIDERS
from acta.engine.settings import Settings, SettingsError
from tests.api.deployment import AdminApi
from tests.doubles.keyed_provider import KeyedProvider
from tests.models.wires.conversations import TIMEOUT, request

URL = "https://llm.example.com/v1"
KEY = "sk-of-the-gateway"


def settings(is_local: bool = False, **providers: Any) -> Settings:
    return Settings(
        env="test", table="t", bucket="b", is_local=is_local, providers=providers,
        provider_secrets={"gateway": "acta/test/gateway"},
    )  # fmt: skip


def read(name: str, *, refresh: bool = False) -> str:
    assert name == "acta/test/gateway"
    return KEY


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    for name in PROVIDERS.keys() - {each.name for each in BUILT_IN}:
        del PROVIDERS[name]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"openai": {"url": URL, "protocol": "chat"}}, "'openai' cannot be the name"),
        ({"audit": {"url": URL, "protocol": "chat"}}, "'audit' cannot be the name"),
        ({"My": {"url": URL, "protocol": "chat"}}, "'My' cannot be the name"),
        ({"my": URL}, "an object"),
        (
            {"my": {"url": URL, "protocol": "chat", "prices": {}}},
            "my: it is an object that has url, protocol",
        ),
        ({"my": {"protocol": "chat"}}, "my: url is missing"),
        ({"my": {"url": URL}}, "my: protocol is one of chat, responses, messages, .*not None"),
        ({"my": {"url": URL, "protocol": "chat", "secret": "a b"}}, "my: secret is true, or the name"),
        ({"my": {"url": URL, "protocol": "chat", "models": "qwen"}}, "my: models is a list of names"),
        ({"my": {"url": "http://10.0.0.1/v1", "protocol": "chat"}}, "my: only .* local kind may use http"),
        ({"my": {"url": "https://key@llm.example.com", "protocol": "chat"}}, "my: a URL is https"),
    ],
)
def test_what_is_wrong_with_an_endpoint_is_said_in_a_sentence(given: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        settings(**given)


def test_a_local_stack_may_use_plain_http() -> None:
    assert settings(is_local=True, my={"url": "http://127.0.0.1:4000/v1", "protocol": "chat"}).providers


@pytest.mark.parametrize(
    ("protocol", "wire"), [("chat", "openai"), ("responses", "openai"), ("messages", "anthropic")]
)
def test_an_endpoint_is_asked_at_its_url_by_its_protocol_with_its_key(
    protocol: str, wire: str, llmock: Any
) -> None:
    llmock.add(Reply(text="Hello."))
    with KeyedProvider(llmock.base_url(wire), KEY) as server:
        PROVIDERS.update(
            own_providers({"gateway": {"url": server.url, "protocol": protocol, "secret": True}})
        )
        model, name = choose(settings(is_local=True), {}, read, "gateway", "qwen3-32b")
        reply = model.complete(request(model=name), timeout=TIMEOUT)

        assert (model.provider, reply.text, server.keys) == ("gateway", "Hello.", [KEY])
        assert llmock.requests[-1].body["model"] == "qwen3-32b"


def test_an_endpoint_without_a_secret_is_asked_without_a_key(llmock: Any) -> None:
    llmock.add(Reply(text="Hello."))
    own = own_providers({"vllm": {"url": llmock.base_url("openai"), "protocol": "chat", "models": ["qwen"]}})
    PROVIDERS.update(own)
    model, name = choose(settings(is_local=True), {}, read, "vllm")

    assert model.complete(request(model=name), timeout=TIMEOUT).text == "Hello."
    assert name == "qwen"


def test_a_missing_key_is_asked_for_where_it_belongs() -> None:
    row: dict[str, Any] = {"gateway": {"url": URL, "protocol": "chat", "secret": True}}
    PROVIDERS.update(own_providers(row))

    unset, _ = choose(settings(**row), {}, lambda name, *, refresh=False: "unset", "gateway", "m")
    with pytest.raises(ProviderKeyRefused, match="acta/<env>/gateway"):
        unset.complete(request(), timeout=TIMEOUT)
    local = Settings(env="local", is_local=True, table="t", bucket="b")
    without, _ = choose(local, {}, read, "gateway", "m")
    with pytest.raises(ProviderKeyRefused, match="GATEWAY_API_KEY"):
        without.complete(request(), timeout=TIMEOUT)


@pytest.mark.parametrize(
    ("provider", "why"),
    [("gone", "no provider of that name: an operator names it"), ("gateway", "no model is named")],
)
def test_an_agent_that_cannot_be_served_fails_with_what_to_do(provider: str, why: str) -> None:
    PROVIDERS.update(own_providers({"gateway": {"url": URL, "protocol": "chat", "secret": True}}))
    model, _ = choose(settings(), {}, read, provider)

    with pytest.raises(ProviderRejected, match=why):
        model.complete(request(), timeout=TIMEOUT)


def test_agents_may_name_an_endpoint_and_of_its_models_those_that_it_lists() -> None:
    listed = {"url": URL, "protocol": "chat", "models": ["qwen3-32b"]}
    api = AdminApi(settings(gateway={"url": URL, "protocol": "chat"}, listed=listed))

    def created(**named: str) -> Any:
        return api.admin.request("POST", "/v1/agents", json_body={"name": "One", **named})

    assert created(provider="gateway", model="whatever/it-serves").status == 201
    assert created(provider="listed", model="qwen3-32b").status == 201
    assert (
        "`models` of the environment"
        in created(provider="listed", model="qwen3-32").error["details"]["model"][0]
    )
    assert "gateway, listed" in created(provider="another").error["details"]["provider"][0]


def test_admins_see_an_endpoint_and_whether_it_takes_the_key(llmock: Any) -> None:
    with KeyedProvider(llmock.base_url("openai"), KEY) as server:
        PROVIDERS.update(own_providers({
            "gateway": {"url": server.url, "protocol": "chat", "secret": True},
            "vllm": {"url": server.url, "protocol": "chat"},
        }))  # fmt: skip
        listing = ModelListing(settings(is_local=True), {}, read)
        states = {each["provider"]: each["key"] for each in listing.listed([])["providers"]}

        assert (states["gateway"], states["vllm"]) == ("present", "not_needed")
        assert listing.check(PROVIDERS["gateway"]) == "works"
        assert listing.check(PROVIDERS["vllm"]) == "refused"


def test_the_first_endpoint_with_a_key_is_the_default_where_no_other_provider_has_one() -> None:
    row: dict[str, Any] = {"gateway": {"url": URL, "protocol": "chat", "secret": True, "models": ["qwen"]}}
    PROVIDERS.update(own_providers(row))

    model, name = choose(settings(**row), {}, read)

    assert (model.provider, name) == ("gateway", "qwen")
