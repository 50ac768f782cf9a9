"""The model providers: one row each. Whoever adds a provider adds a row here, and its module only where it speaks a
protocol of its own.

From the rows follow the names that agents and settings may use, the variables and the secrets of the keys, what infra
creates and grants, the listing of the models and the names in traces. The order counts: where neither an agent nor the
deployment names a provider, the first one with a key is taken.

Each model that is known is one row of its provider: price, context window, speed, and the parameters that it takes.
Prices are as published on the provider's `as_of`: standard processing, global endpoints, no volume discount. The price
of writing to the cache is that of the shortest retention, which Acta uses. The setting `models` of a deployment adds
rows for models that have none here, and replaces those that have one (`add_models`).

What a call costs and how long it may take follow from the rows, too. All numbers of costs are integers. Prices are
thousandths of a dollar per million tokens, so tokens times price are billionths of a dollar. The sum is rounded once,
half up, to millionths. The time follows from the tokens that a call may write and the speed of its model
(docs/design/providers.md 13); where less is left of the invocation it gets less
(`acta/engine/turn/model_call.py`). Speeds are estimates, and a setting replaces them all.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, get_args

OFFLINE = "offline"
NO_KEY_YET = "unset"
"""What a new deployment puts into a key's secret until a person stores a key there. It must not look like a key."""


class Rates(NamedTuple):
    """Thousandths of a US dollar per million tokens."""

    input: int
    """Of tokens that are neither read from the cache nor written to it."""
    cached_input: int
    cache_write: int
    output: int

    @property
    def dearest_input(self) -> int:
        return max(self.input, self.cache_write)


class Price(NamedTuple):
    rates: Rates
    long_above: int | None = None
    """With more input tokens than this, all tokens of a request cost `long` instead of `rates`."""
    long: Rates | None = None


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model thinks before it answers, as the providers call it, from the least to the most."""


class KnownModel(NamedTuple):
    """What is known of one model."""

    price: Price | None
    """None: it is not known."""
    window: int
    """Tokens of a request and its answer together; from GPT 5 on, of the request alone. It is what everybody has,
    without an option that a request would have to name.
    """
    speed: float
    """Tokens per second. No provider promises a speed. These are estimates, low on purpose: an answer that is given too
    little time is paid for and lost, one that is given too much costs nothing.
    """
    efforts: tuple[str, ...] | None = None
    """The efforts that it takes. None: it is not known which."""
    hottest: float | None = None
    """The highest temperature that it takes; 0: it takes none. A model that takes the effort `none` takes a temperature
    only together with it. None: it is not known.
    """
    source: str = ""
    """Where that comes from, and of which day it is. Empty: from the source of its provider."""


Api = Literal["messages", "bedrock", "responses", "chat", "converse", "offline"]
"""The protocol that a provider speaks, and so the module that asks it.

messages   Anthropic's Messages API (`anthropic/`)
bedrock    the Messages API on Amazon Bedrock, signed with the function's role
responses  OpenAI's Responses API (`openai/`); at another server than OpenAI's own, Chat Completions
chat       Chat Completions of an OpenAI-compatible server
converse   Amazon Bedrock's own protocol for the models of all vendors, signed with the function's role
offline    no network: the rule-based stand-in
"""


@dataclass(frozen=True, eq=False, repr=False)
class Provider:
    name: str
    """What agents, settings and the log call it. The key's secret in AWS is `acta/<env>/<name>`."""
    api: Api
    default_model: str
    """Asked where neither the agent nor the deployment names a model."""
    model_names: str | None
    """A pattern that the names of its own models match. Where an environment lists no models, agents may name only
    those that match. None: any name will do, and no name tells that a model is this provider's.
    """
    address: str | None = None
    """The base URL of its API, which has exactly this protocol. None: the SDK knows it, or a variable names it."""
    address_variable: str = ""
    """The environment variable that names another server. Empty: there is none."""
    key_variable: str = ""
    """The environment variable that holds its key locally. Empty: it needs no key, and is used only where it is
    named.
    """
    with_role: bool = False
    """Requests are signed with the function's role in place of a key: Amazon Bedrock's."""
    other_variables: tuple[str, ...] = ()
    """What else its SDK reads from the environment."""
    trace_name: str = ""
    """What OpenTelemetry's conventions call it. Empty: its name here."""
    models: Mapping[str, KnownModel] = field(default_factory=dict)
    """By name, without the date of a snapshot."""
    unlisted: KnownModel | None = None
    """What is assumed of a model that has no row but is called like this provider's own: the smallest window and the
    lowest speed of those that may be called so. None: what is assumed of any model (`UNKNOWN`).
    """
    source: str = ""
    """Where prices, windows and parameters are published."""
    as_of: str = ""
    """The day of the prices."""


def _step(above: int, rates: Rates, input: float, output: float) -> Price:
    """A price that rises for a request of more than `above` input tokens: all of its input, cached or not, then costs
    `input` times as much, and its output `output` times.
    """
    fresh, cached, written = (round(each * input) for each in rates[:3])
    dearer = Rates(fresh, cached, written, round(rates.output * output))
    return Price(rates, above, dearer)


_UP_TO_HIGH = ("low", "medium", "high")
_UP_TO_XHIGH = ("none", *_UP_TO_HIGH, "xhigh")
_UP_TO_MAX = (*_UP_TO_HIGH, "xhigh", "max")
_SLOWEST, _SLOW, _USUAL, _FAST = 20, 40, 50, 80
_WHOLE = 1_000_000


def _claude(
    input: int,
    cached_input: int,
    output: int,
    speed: int = _USUAL,
    *,
    efforts: tuple[str, ...] = _UP_TO_MAX,
    window: int = _WHOLE,
) -> KnownModel:
    """Writing to the cache for five minutes costs 1.25 times the input. No Claude takes a temperature since version
    2026-10-21 of the API, which the SDK asks for at Anthropic and on Bedrock.
    """
    rates = Rates(input, cached_input, input * 5 // 4, output)
    return KnownModel(Price(rates), window, speed, efforts, hottest=0)


def _gpt_4(input: int, cached_input: int, output: int, window: int, speed: int = _USUAL) -> KnownModel:
    """These do not think, and writing to the cache costs no more than the input."""
    return KnownModel(Price(Rates(input, cached_input, input, output)), window, speed, efforts=(), hottest=2)


def _gpt_5(
    input: int,
    cached_input: int,
    output: int,
    speed: int = _USUAL,
    *,
    efforts: tuple[str, ...] = _UP_TO_HIGH,
    window: int = 272_000,
) -> KnownModel:
    price = Price(Rates(input, cached_input, input, output))
    return KnownModel(price, window, speed, efforts, hottest=2 if "none" in efforts else 0)


def _long(row: KnownModel) -> KnownModel:
    """From GPT-5.4 on: 922,000 tokens of input, and above 272,000 input and cache cost 2 times as much, output 1.5
    times.
    """
    assert row.price is not None
    return row._replace(price=_step(272_000, row.price.rates, 2, 1.5), window=922_000)


def _gpt_6(
    input: int, cached_input: int, output: int, speed: int = _USUAL, *, always_thinks: bool = False
) -> KnownModel:
    """From GPT-5.6 on, writing to the cache costs 1.25 times the input."""
    price = Price(Rates(input, cached_input, input * 5 // 4, output))
    efforts = _UP_TO_MAX if always_thinks else ("none", *_UP_TO_MAX)
    return _long(KnownModel(price, 0, speed, efforts, hottest=0 if always_thinks else 2))


_HAIKU_5_5 = _claude(100, 10, 500, _FAST)

ANTHROPIC = Provider(
    name="anthropic",
    api="messages",
    default_model="claude-sonnet-5-5",
    model_names=r"claude-.+",
    address_variable="ANTHROPIC_BASE_URL",
    key_variable="ANTHROPIC_API_KEY",
    models={
        "claude-fable-5-2": _claude(8_000, 200, 40_000, _SLOW),
        "claude-fable-5-1": _claude(10_000, 250, 50_000, _SLOW),
        "claude-mythos-5-1": _claude(10_000, 250, 50_000, _SLOW),
        "claude-fable-5": _claude(10_000, 1_000, 50_000, _SLOW),
        "claude-mythos-5": _claude(10_000, 1_000, 50_000, _SLOW),
        "claude-opus-5-5": _claude(4_000, 200, 20_000, _SLOW),
        "claude-opus-5": _claude(5_000, 500, 25_000, _SLOW),
        "claude-opus-4-8": _claude(5_000, 500, 25_000, _SLOW),
        "claude-opus-4-7": _claude(5_000, 500, 25_000, _SLOW),
        "claude-opus-4-6": _claude(5_000, 500, 25_000, _SLOW, efforts=(*_UP_TO_HIGH, "max")),
        "claude-opus-4-5": _claude(5_000, 500, 25_000, _SLOW, efforts=_UP_TO_HIGH, window=200_000),
        "claude-sonnet-5-5": _claude(2_000, 100, 10_000),
        "claude-sonnet-5": _claude(2_000, 200, 10_000),
        "claude-sonnet-4-6": _claude(3_000, 300, 15_000, efforts=(*_UP_TO_HIGH, "max")),
        "claude-sonnet-4-5": _claude(3_000, 300, 15_000, efforts=(), window=200_000),
        "claude-haiku-5-5": _HAIKU_5_5._replace(price=_step(100_000, Rates(100, 10, 125, 500), 5, 5)),
        "claude-haiku-4-5": _claude(1_000, 100, 5_000, _FAST, efforts=(), window=200_000),
    },
    unlisted=KnownModel(None, 200_000, _SLOW, _UP_TO_MAX, hottest=0),
    source="platform.claude.com/docs/en/about-claude/pricing, models/overview and build-with-claude/effort",
    as_of="2026-11-18",
)

OPENAI = Provider(
    name="openai",
    api="responses",
    default_model="gpt-6-sol",
    model_names=r"(gpt-.+|o\d.*)",
    address_variable="OPENAI_BASE_URL",
    key_variable="OPENAI_API_KEY",
    models={
        "gpt-6.2-astra": _gpt_6(8_000, 400, 40_000, _SLOW, always_thinks=True),
        "gpt-6.2-sol": _gpt_6(2_000, 100, 10_000, always_thinks=True),
        "gpt-6.1-sol": _gpt_6(2_000, 100, 10_000, always_thinks=True),
        "gpt-6.1-terra": _gpt_6(1_000, 50, 5_000),
        "gpt-6-astra": _gpt_6(10_000, 1_000, 50_000, _SLOW, always_thinks=True),
        "gpt-6-sol": _gpt_6(2_000, 200, 10_000),
        "gpt-6-luna": _gpt_6(100, 10, 500, _FAST),
        "gpt-5.6": _gpt_6(4_000, 400, 20_000),
        "gpt-5.6-sol": _gpt_6(4_000, 400, 20_000),  # a promotion, published until 2026-11-21 at least
        "gpt-5.6-terra": _gpt_6(2_000, 200, 12_000),
        "gpt-5.6-luna": _gpt_6(200, 20, 1_200, _FAST),
        "gpt-5.5": _long(_gpt_5(5_000, 500, 30_000, efforts=_UP_TO_XHIGH)),
        "gpt-5.4": _long(_gpt_5(2_500, 250, 15_000, efforts=_UP_TO_XHIGH)),
        "gpt-5.4-mini": _gpt_5(750, 75, 4_500, _FAST, efforts=_UP_TO_XHIGH),
        "gpt-5.4-nano": _gpt_5(200, 20, 1_250, _FAST, efforts=_UP_TO_XHIGH),
        "gpt-5.2": _gpt_5(1_750, 175, 14_000, efforts=_UP_TO_XHIGH),
        "gpt-5.1": _gpt_5(1_250, 125, 10_000, efforts=("none", *_UP_TO_HIGH)),
        "gpt-5": _gpt_5(1_250, 125, 10_000, efforts=("minimal", *_UP_TO_HIGH)),
        "gpt-5-mini": _gpt_5(250, 25, 2_000, _FAST, efforts=("minimal", *_UP_TO_HIGH)),
        "gpt-5-nano": _gpt_5(50, 5, 400, _FAST, efforts=("minimal", *_UP_TO_HIGH)),
        "gpt-4.1": _gpt_4(2_000, 500, 8_000, _WHOLE),
        "gpt-4.1-mini": _gpt_4(400, 100, 1_600, _WHOLE, _FAST),
        "gpt-4.1-nano": _gpt_4(100, 25, 400, _WHOLE, _FAST),
        "gpt-4o": _gpt_4(2_500, 1_250, 10_000, 128_000),
        "gpt-4o-mini": _gpt_4(150, 75, 600, 128_000, _FAST),
        "gpt-4-turbo": KnownModel(None, 128_000, _USUAL, efforts=(), hottest=2),
        "gpt-4": KnownModel(None, 8_000, _USUAL, efforts=(), hottest=2),
        "gpt-3.5-turbo": KnownModel(None, 16_000, _USUAL, efforts=(), hottest=2),
        "o3": _gpt_5(2_000, 500, 8_000, window=200_000),
        "o4-mini": _gpt_5(1_100, 275, 4_400, _FAST, window=200_000),
        "o3-mini": _gpt_5(1_100, 550, 4_400, _FAST, window=200_000),
        "o1": _gpt_5(15_000, 7_500, 60_000, window=200_000),
    },
    unlisted=KnownModel(None, 128_000, _SLOWEST),
    source="developers.openai.com/api/docs/pricing and the models' pages",
    as_of="2026-11-18",
)

BEDROCK = Provider(
    name="bedrock",
    api="bedrock",
    default_model="global.anthropic.claude-sonnet-5-5",
    model_names=r"([a-z-]+\.)?anthropic\.claude-.+",
    address_variable="ANTHROPIC_BEDROCK_BASE_URL",
    # Bedrock does not accept what a local AWS signs. Its own API key works from there.
    other_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    # It takes the effort `high` only from requests without an output limit, which every request of Acta's has.
    models={"nova-2-lite": KnownModel(None, _WHOLE, _USUAL, ("low", "medium"), hottest=1)},
    trace_name="aws.bedrock",
)

STAND_IN = Provider(
    name=OFFLINE,
    api="offline",
    default_model="offline-rules",
    model_names=None,  # it has one model, whatever an agent calls it
    models={"offline-rules": KnownModel(Price(Rates(0, 0, 0, 0)), _WHOLE, 1_000)},
)

BUILT_IN = (ANTHROPIC, OPENAI, BEDROCK, STAND_IN)
PROVIDERS: dict[str, Provider] = {each.name: each for each in BUILT_IN}
"""By name: the rows of this file, and this deployment's own endpoints (`own_providers.py`)."""
PROVIDER_PATTERN = r"^[a-z][a-z0-9-]{0,31}$"

WITH_KEY = tuple(each for each in BUILT_IN if each.key_variable)

_MODEL_NAMES = {each.name: each.model_names for each in PROVIDERS.values() if each.model_names is not None}
_BY_NAME = {name: row for each in PROVIDERS.values() for name, row in each.models.items()}

PRICED_AT = min(each.as_of for each in PROVIDERS.values() if each.as_of)
"""The day of the oldest prices."""

UNKNOWN = KnownModel(None, 32_000, 30)
"""What is assumed of a model of which nothing is known. A window that is assumed too small costs a compaction now and
then; one that is assumed too large ends the run."""

_ADDED: dict[tuple[str, str], KnownModel] = {}
"""By provider and model: the rows of this deployment's setting `models`."""


_NUMBERS = (*Rates._fields, "window", "tokens_per_second", "temperature")


def add_models(told: Mapping[str, Any]) -> None:
    """Adds the rows of the setting `models` to those of this file. A process serves one deployment, whose `App` does
    this once. Raises ValueError, as `read_models` does.
    """
    _ADDED.update(read_models(told))


def read_models(told: Mapping[str, Any], own: Collection[str] = ()) -> dict[tuple[str, str], KnownModel]:
    """The setting `models`: provider -> model -> what an operator knows of it. Prices are US dollars per million
    tokens; where only that of `input` is given, cached input and writing to the cache cost the same. Whatever else is
    left out is as it is without the setting. `own`: names of the deployment's own providers, where they are not added
    yet. Raises ValueError with a sentence about what is wrong.
    """
    rows: dict[tuple[str, str], KnownModel] = {}
    for provider, models in told.items():
        if provider not in (there := dict.fromkeys((*PROVIDERS, *own))):
            raise ValueError(f"a provider is one of {', '.join(there)}, not {provider}")
        for name, row in models.items():
            try:
                known = known_model(name, provider)._replace(price=price_of(provider, name))
                rows[provider, name] = _read_model(known, row)
            except (AttributeError, TypeError, ValueError) as error:
                raise ValueError(f"{provider}, {name}: {error}") from None
    return rows


def _read_model(known: KnownModel, row: Mapping[str, Any]) -> KnownModel:
    fields = (*_NUMBERS, "above", "efforts", "source")
    if unknown := [name for name in row if name not in fields]:
        raise ValueError(f"a row has {', '.join(fields)}, not {unknown[0]}")
    given = {name: _number(row, name) for name in _NUMBERS if name in row}
    efforts = row.get("efforts", known.efforts)
    if efforts is not None and not set(efforts) <= set(get_args(Effort)):
        raise ValueError(f"an effort is one of {', '.join(get_args(Effort))}")
    price = known.price
    if not given.keys().isdisjoint(Rates._fields):
        price = Price(_read_rates(row))
        if above := row.get("above"):
            price = Price(price.rates, int(_number(above, "prompt_tokens")), _read_rates(above))
    return KnownModel(
        price=price,
        window=int(given.get("window", known.window)),
        speed=given.get("tokens_per_second") or known.speed,
        efforts=efforts if efforts is None else tuple(efforts),
        hottest=given.get("temperature", known.hottest),
        source=str(row.get("source", "")),
    )


def _read_rates(row: Mapping[str, Any]) -> Rates:
    """In US dollars per million tokens."""
    input = _number(row, "input")
    cached, written = (_number({name: input, **row}, name) for name in ("cached_input", "cache_write"))
    return Rates(*(round(usd * 1_000) for usd in (input, cached, written, _number(row, "output"))))


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ValueError(f"{name} is a number from 0")
    return value


_AROUND = re.compile(
    r"(?:.*/)?(?:[a-z][a-z-]*\.)*(.*?)(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{4})?(?:-v\d+)?(?:[@:].*)?", re.DOTALL
)
"""What providers put around a model's name: `eu.anthropic.claude-…`, `openai/gpt-…`, a date or a version at the end."""


def known_model(model: str, provider: str = "") -> KnownModel:
    """What is known of a model of that name, whoever serves it. The price is that of its row, so it counts only where
    the row's own provider is asked (`price_of`). `provider`: whose row of the setting goes before. Empty: anybody's.
    """
    for (of, name), row in _ADDED.items():
        if name == model and provider in ("", of):
            return row
    found = _AROUND.fullmatch(model)
    name = found[1] if found else model
    unlisted = PROVIDERS[provider_of(name)].unlisted if provider_of(name) else None
    return _BY_NAME.get(name) or unlisted or UNKNOWN


class ModelParameters(NamedTuple):
    """What an agent asks of its models. None: the model decides."""

    effort: str | None = None
    temperature: float | None = None

    def refused(self, provider: str, model: str) -> dict[str, str]:
        """By name, a sentence about each parameter that the model is known not to take, and what to do."""
        known, named, wrong = known_model(model, provider), f"The model {model[:64]} takes", dict[str, str]()
        efforts = known.efforts
        if self.effort is not None and efforts is not None and self.effort not in efforts:
            takes = f"the efforts {', '.join(efforts)}" if efforts else "no effort"
            wrong["effort"] = f"{named} {takes}. Change it, leave it out, or take another model."
        why = ""
        if self.temperature is None or known.hottest is None:
            return wrong
        if not known.hottest:
            why = "no temperature. Leave it out, or take another model."
        elif efforts is not None and "none" in efforts and self.effort != "none":
            why = "a temperature only with the effort none. Say so in `effort`, or leave the temperature out."
        elif self.temperature > known.hottest:
            why = f"a temperature of at most {known.hottest:g}."
        return {**wrong, "temperature": f"{named} {why}"} if why else wrong

    def taken(self, provider: str, model: str) -> "ModelParameters":
        """Those that the model takes, as far as it is known: a fallback may take others than the agent's own model."""
        return self._replace(**dict.fromkeys(self.refused(provider, model)))


USUAL_CONTEXT = 200_000
"""Tokens. Reading a longer conversation again in each turn costs more than most sessions gain from it (ADR 190)."""


def context_tokens(provider: str, model: str, wanted: int = 0) -> int:
    """The tokens that a request and its answer may have together before the conversation is shortened. `wanted`: what
    an agent or an operator says. 0: as many as cost no more each, and `USUAL_CONTEXT` where the model has one price for
    all lengths. It is never more than the model's window.
    """
    known = known_model(model, provider)
    step = known.price.long_above if known.price is not None else None
    return min(known.window, wanted or step or USUAL_CONTEXT)


def is_model_of(provider: str, model: str) -> bool:
    """Whether the provider's own models have names like this."""
    names = PROVIDERS[provider].model_names
    return names is None or re.fullmatch(names, model) is not None


def provider_of(model: str) -> str:
    """The provider whose own models have names like this. Empty: none has."""
    return next((name for name in _MODEL_NAMES if is_model_of(name, model)), "")


class AllowedModels(NamedTuple):
    listed: frozenset[str] = frozenset()
    """Exact names. Empty: there is no list."""
    own: str = ""
    """The deployment's model, which is always allowed."""
    any_name: bool = False
    """Locally a provider's name may stand for any server, whose models may have any name."""

    def may_call(self, model: str) -> bool:
        """Without a list, an agent that is already stored may call its model, whatever the name is."""
        return not self.listed or model == self.own or model in self.listed

    def refusal(self, provider: str | None, model: str) -> str | None:
        """Why an agent may not be given the model, as a sentence; None: it may. `provider` None: the deployment's,
        whichever that is.
        """
        if self.listed:
            names = ", ".join(sorted(self.listed))
            return None if self.may_call(model) else f"This environment allows these models: {names}."
        is_known = provider_of(model) != "" if provider is None else is_model_of(provider, model)
        is_known = is_known or any(name == model and provider in (None, of) for of, name in _ADDED)
        if self.any_name or model == self.own or is_known:
            return None
        return (
            "No model of this provider is called like that. To allow it all the same, an operator names it with its "
            "prices and its window in `models` of the environment."
        )


_SNAPSHOT = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})\Z")
_BILLIONTHS = 1_000


class PricedTokens(Protocol):
    """The tokens of a call. `input` includes `cached_input` (read from the cache) and `cache_write` (written to it)."""

    @property
    def input(self) -> int: ...
    @property
    def output(self) -> int: ...
    @property
    def cached_input(self) -> int: ...
    @property
    def cache_write(self) -> int: ...


def cost_usd(provider: str, model: str, used: PricedTokens) -> float | None:
    """US dollars, with six decimals; None: the model's price is unknown."""
    price = price_of(provider, model)
    if price is None:
        return None
    rates = _rates(price, used.input)
    read = min(used.cached_input, used.input)
    written = min(used.cache_write, used.input - read)
    billionths = (
        (used.input - read - written) * rates.input
        + read * rates.cached_input
        + written * rates.cache_write
        + used.output * rates.output
    )
    return (billionths + _BILLIONTHS // 2) // _BILLIONTHS / 1_000_000


class NamedModel(NamedTuple):
    """A model, and the provider that is asked for it."""

    provider: str
    model: str


def most_usd(models: Sequence[NamedModel], input_tokens: int, output_tokens: int) -> float | None:
    """US dollars that a call may cost, whichever of the models answers: nothing is read from the cache, and all of the
    input may be written to it. None: no model has a known price.
    """
    costs = [
        input_tokens * rates.dearest_input + output_tokens * rates.output
        for rates in _known_rates(models, input_tokens)
    ]
    return -(-max(costs) // _BILLIONTHS) / 1_000_000 if costs else None


def dearest_usd(input_tokens: int, output_tokens: int) -> float:
    """What a call may cost at most if the dearest of all known models answers: an estimate for a model without a known
    price."""
    every = [NamedModel(each.name, model) for each in PROVIDERS.values() for model in each.models]
    every += [NamedModel(*each) for each in _ADDED]
    return most_usd(every, input_tokens, output_tokens) or 0.0


def most_output(models: Sequence[NamedModel], input_tokens: int, usd: float, at_most: int) -> int:
    """The tokens of output, `at_most` or fewer, that `usd` US dollars carry after the input, whichever model answers.
    Below 0: not even the input. A model without a known price is not looked at.
    """
    billionths = int(usd * 1_000_000) * _BILLIONTHS
    return min(
        (
            (billionths - input_tokens * rates.dearest_input) // rates.output
            for rates in _known_rates(models, input_tokens)
            if rates.output
        ),
        default=at_most,
    )


def charged_tokens(model: NamedModel, used: PricedTokens) -> int:
    """The tokens that a call counts in a token budget: input that was read from the cache counts by its price relative
    to fresh input, rounded up. Where the price is unknown it counts in full.
    """
    price = price_of(*model)
    rates = _rates(price, used.input) if price is not None else None
    read = min(used.cached_input, used.input)
    if rates is None or not rates.input:
        return used.input + used.output
    return used.input - read + -(-read * rates.cached_input // rates.input) + used.output


def price_of(provider: str, model: str) -> Price | None:
    """The price of the model; None: unknown. A dated snapshot (`…-2026-05-01`) has the price of the name without the
    date. The price of a similar model, or of the same one at another provider, is never taken.
    """
    row = PROVIDERS.get(provider)
    if row is STAND_IN:
        model = row.default_model  # it has one model, whatever an agent calls it
    known = _ADDED.get((provider, model))
    if known is None and row is not None:
        known = row.models.get(model) or row.models.get(_SNAPSHOT.sub("", model))
    return known.price if known is not None else None


def is_priced(provider: str, model: str) -> bool:
    """Whether the cost of a call is known."""
    return price_of(provider, model) is not None


def _known_rates(models: Sequence[NamedModel], input_tokens: int) -> list[Rates]:
    prices = (price_of(provider, model) for provider, model in models)
    return [_rates(price, input_tokens) for price in prices if price is not None]


def _rates(price: Price, prompt_tokens: int) -> Rates:
    if price.long is not None and price.long_above is not None and prompt_tokens > price.long_above:
        return price.long
    return price.rates


DEFAULT_SPEED = 50
"""The slowest speed of the providers' default models, for when it is not known yet which of them is asked."""


class AnswerTime(NamedTuple):
    """All times are in seconds."""

    least: float = 120
    """What a call gets at least, however little it needs."""
    most: float = 840
    first_token: float = 30
    """What a model may take to begin its answer."""
    tokens_per_second: float = 0
    """The speed of every model. 0: each has its own."""

    def speed(self, model: str) -> float:
        """`model` empty: a default model."""
        return self.tokens_per_second or (known_model(model).speed if model else DEFAULT_SPEED)

    def of_answer(self, model: str, max_tokens: int) -> float:
        """What one model needs, from the request to the last token."""
        return self.first_token + max_tokens / self.speed(model)

    def of_call(self, models: Iterable[str], max_tokens: int) -> float:
        """What a call gets that asks these models one after the other until one answers."""
        return min(self.most, max(self.least, sum(self.of_answer(model, max_tokens) for model in models)))

    def most_tokens(self, models: Sequence[str]) -> int:
        """The longest answer that fits into a call if the slowest model gives it, after the others did not begin."""
        writing = self.most - self.first_token * len(models)
        return max(1, int(writing * min(self.speed(model) for model in models)))

    def begins_within(self, left: float, others: Sequence[str], max_tokens: int) -> float:
        """How long a model may be silent before the next of `others` is asked: an equal share of the time that is
        `left`, but no more than leaves one of them its whole answer, nor less than a model needs to begin.
        """
        share = left / (len(others) + 1)
        spare = left - max(self.of_answer(model, max_tokens) for model in others)
        return min(share, max(self.first_token, spare))


FIRST_WAIT = 10
LONGEST_WAIT = 240
"""Under five minutes: providers keep an answer for at least ten, and a cancel has to be passed on soon."""
SHARE = 0.5
"""The wait until the next look, as a share of the time that has passed."""


def next_wait(passed: float, first: float = FIRST_WAIT) -> int:
    """Whole seconds until the next look. `passed`: since the call was made. `first`: the shortest wait."""
    return round(min(LONGEST_WAIT, max(first, SHARE * passed)))


def looks(passed: float) -> int:
    """How many looks there have been at most in so much time, none of them by chance."""
    count, at = 0, 0.0
    while at < passed:
        at += next_wait(at)
        count += 1
    return count
