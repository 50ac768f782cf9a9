"""The model providers: one row each. Whoever adds a provider adds a row here, and its module only where it speaks a
protocol of its own.

From the rows follow the names that agents and settings may use, the variables and the secrets of the keys, what infra
creates and grants, prices, windows, speeds, the listing of the models and the names in traces. The order counts: where
neither an agent nor the deployment names a provider, the first one with a key is taken.

Prices are as published on `PRICED_AT`: standard processing, global endpoints, no volume discount. Sources:
platform.claude.com/docs/en/about-claude/pricing and the models' overview pages; developers.openai.com/api/docs/pricing
and the models' pages. The price of writing to the cache is that of the shortest retention, which Acta uses.

What a call costs and how long it may take follow from the rows, too. All numbers of costs are integers. Prices are
thousandths of a dollar per million tokens, so tokens times price are billionths of a dollar. The sum is rounded once,
half up, to millionths. The time follows from the tokens that a call may write and the speed of its model
(docs/design/providers.md 13); where less is left of the invocation it gets less
(`shared/acta_engine/turn/model_call.py`). Speeds are estimates, and a setting replaces them all.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

PRICED_AT = "2026-11-18"
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


Api = Literal["messages", "bedrock", "responses", "chat", "offline"]
"""The protocol that a provider speaks, and so the module that asks it.

messages   Anthropic's Messages API (`anthropic/`)
bedrock    the Messages API on Amazon Bedrock, signed with the function's role
responses  OpenAI's Responses API (`openai/`); at another server than OpenAI's own, Chat Completions
chat       Chat Completions of an OpenAI-compatible server
offline    no network: the rule-based stand-in
"""
MOST_OPENAI_TOOLS = 128
"""Of one request to OpenAI, or to a server that speaks its protocols (ADR 182)."""


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
    """The base URL of its API. None: the SDK knows it."""
    address_variable: str = ""
    """The environment variable that names another server. Empty: there is none."""
    key_variable: str = ""
    """The environment variable that holds its key locally. Empty: it needs no key, and is used only where it is
    named.
    """
    other_variables: tuple[str, ...] = ()
    """What else its SDK reads from the environment."""
    trace_name: str = ""
    """What OpenTelemetry's conventions call it. Empty: its name here."""
    windows: tuple[tuple[str, int], ...] = ()
    """Patterns of model names, and the tokens of a request and its answer together; from GPT 5 on, of the request
    alone. It is what every model of that name has, without options that a request would have to name. The first pattern
    that fits counts. Patterns allow for what providers put around a name: `eu.anthropic.claude-…`, `openai/gpt-…`, a
    date or a version at the end.
    """
    speeds: tuple[tuple[str, int], ...] = ()
    """Patterns of model names, and tokens per second. No provider promises a speed. These are estimates, low on
    purpose: an answer that is given too little time is paid for and lost, one that is given too much costs nothing.
    """
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By model. A model that is not named has an unknown price."""
    is_free: bool = False
    """Its calls cost nothing."""


def _claude(input: int, cached_input: int, output: int) -> Price:
    """Writing to the cache for five minutes costs 1.25 times the input."""
    return Price(Rates(input, cached_input, input * 5 // 4, output))


def _gpt(input: int, cached_input: int, output: int) -> Price:
    """Up to GPT-5.5, writing to the cache costs no more than the input."""
    return Price(Rates(input, cached_input, input, output))


def _long(rates: Rates) -> Price:
    """From GPT-5.4 on, above 272,000 input tokens: input and cache cost 2 times as much, output 1.5 times."""
    double = Rates(rates.input * 2, rates.cached_input * 2, rates.cache_write * 2, rates.output * 3 // 2)
    return Price(rates, 272_000, double)


def _gpt_6(input: int, cached_input: int, output: int) -> Price:
    """From GPT-5.6 on, writing to the cache costs 1.25 times the input."""
    return _long(Rates(input, cached_input, input * 5 // 4, output))


ANTHROPIC = Provider(
    name="anthropic",
    api="messages",
    default_model="claude-sonnet-5-5",
    model_names=r"claude-.+",
    address_variable="ANTHROPIC_BASE_URL",
    key_variable="ANTHROPIC_API_KEY",
    windows=((r"(.*[./])?claude-.*", 200_000),),
    speeds=(
        (r"(.*[./])?claude-.*haiku.*", 80),
        (r"(.*[./])?claude-.*(opus|fable|mythos).*", 40),
        (r"(.*[./])?claude-.*", 50),
    ),
    prices={
        "claude-fable-5-2": _claude(8_000, 200, 40_000),
        "claude-fable-5-1": _claude(10_000, 250, 50_000),
        "claude-mythos-5-1": _claude(10_000, 250, 50_000),
        "claude-fable-5": _claude(10_000, 1_000, 50_000),
        "claude-mythos-5": _claude(10_000, 1_000, 50_000),
        "claude-opus-5-5": _claude(4_000, 200, 20_000),
        "claude-opus-5": _claude(5_000, 500, 25_000),
        "claude-opus-4-8": _claude(5_000, 500, 25_000),
        "claude-opus-4-7": _claude(5_000, 500, 25_000),
        "claude-opus-4-6": _claude(5_000, 500, 25_000),
        "claude-opus-4-5": _claude(5_000, 500, 25_000),
        "claude-sonnet-5-5": _claude(2_000, 100, 10_000),
        "claude-sonnet-5": _claude(2_000, 200, 10_000),
        "claude-sonnet-4-6": _claude(3_000, 300, 15_000),
        "claude-sonnet-4-5": _claude(3_000, 300, 15_000),
        "claude-haiku-5-5": Price(Rates(100, 10, 125, 500), 100_000, Rates(500, 50, 625, 2_500)),
        "claude-haiku-4-5": _claude(1_000, 100, 5_000),
    },
)

OPENAI = Provider(
    name="openai",
    api="responses",
    default_model="gpt-6-sol",
    model_names=r"(gpt-.+|o\d.*)",
    address_variable="OPENAI_BASE_URL",
    key_variable="OPENAI_API_KEY",
    windows=(
        (r"(.*/)?gpt-4\.1.*", 1_000_000),
        (r"(.*/)?gpt-4(o|-turbo).*", 128_000),
        (r"(.*/)?gpt-(4|3\.5)\b.*", 8_000),
        (r"(.*/)?gpt-([5-9]|\d\d).*chat.*", 128_000),
        (r"(.*/)?gpt-([5-9]|\d\d).*", 272_000),
        (r"(.*/)?o\d.*", 200_000),
    ),
    speeds=(
        (r"(.*/)?(gpt-|o\d).*\bpro\b.*", 20),
        (r"(.*/)?gpt-.*astra.*", 40),
        (r"(.*/)?(gpt-|o\d).*(mini|nano|luna).*", 80),
        (r"(.*/)?(gpt-|o\d).*", 50),
    ),
    prices={
        "gpt-6.2-astra": _gpt_6(8_000, 400, 40_000),
        "gpt-6.2-sol": _gpt_6(2_000, 100, 10_000),
        "gpt-6.1-sol": _gpt_6(2_000, 100, 10_000),
        "gpt-6.1-terra": _gpt_6(1_000, 50, 5_000),
        "gpt-6-astra": _gpt_6(10_000, 1_000, 50_000),
        "gpt-6-sol": _gpt_6(2_000, 200, 10_000),
        "gpt-6-luna": _gpt_6(100, 10, 500),
        "gpt-5.6": _gpt_6(4_000, 400, 20_000),
        "gpt-5.6-sol": _gpt_6(4_000, 400, 20_000),  # a promotion, published until 2026-11-21 at least
        "gpt-5.6-terra": _gpt_6(2_000, 200, 12_000),
        "gpt-5.6-luna": _gpt_6(200, 20, 1_200),
        "gpt-5.5": _long(Rates(5_000, 500, 5_000, 30_000)),
        "gpt-5.4": _long(Rates(2_500, 250, 2_500, 15_000)),
        "gpt-5.4-mini": _gpt(750, 75, 4_500),
        "gpt-5.4-nano": _gpt(200, 20, 1_250),
        "gpt-5.2": _gpt(1_750, 175, 14_000),
        "gpt-5.1": _gpt(1_250, 125, 10_000),
        "gpt-5": _gpt(1_250, 125, 10_000),
        "gpt-5-mini": _gpt(250, 25, 2_000),
        "gpt-5-nano": _gpt(50, 5, 400),
        "gpt-4.1": _gpt(2_000, 500, 8_000),
        "gpt-4.1-mini": _gpt(400, 100, 1_600),
        "gpt-4.1-nano": _gpt(100, 25, 400),
        "gpt-4o": _gpt(2_500, 1_250, 10_000),
        "gpt-4o-mini": _gpt(150, 75, 600),
        "o3": _gpt(2_000, 500, 8_000),
        "o4-mini": _gpt(1_100, 275, 4_400),
        "o3-mini": _gpt(1_100, 550, 4_400),
        "o1": _gpt(15_000, 7_500, 60_000),
    },
)

BEDROCK = Provider(
    name="bedrock",
    api="bedrock",
    default_model="global.anthropic.claude-sonnet-5-5",
    model_names=r"([a-z-]+\.)?anthropic\.claude-.+",
    address_variable="ANTHROPIC_BEDROCK_BASE_URL",
    # Bedrock does not accept what a local AWS signs. Its own API key works from there.
    other_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    trace_name="aws.bedrock",
)

STAND_IN = Provider(
    name=OFFLINE,
    api="offline",
    default_model="offline-rules",
    model_names=None,  # it has one model, whatever an agent calls it
    windows=((r"offline-.*", 1_000_000),),
    speeds=((r"offline-.*", 1_000),),
    is_free=True,
)

PROVIDERS: Mapping[str, Provider] = {each.name: each for each in (ANTHROPIC, OPENAI, BEDROCK, STAND_IN)}
"""By name."""

WITH_KEY = tuple(each for each in PROVIDERS.values() if each.key_variable)


if TYPE_CHECKING:
    ProviderName = str
else:
    ProviderName = Literal[tuple(PROVIDERS)]

_MODEL_NAMES = {each.name: each.model_names for each in PROVIDERS.values() if each.model_names is not None}
_WINDOWS = tuple(row for each in PROVIDERS.values() for row in each.windows)
_SPEEDS = tuple(row for each in PROVIDERS.values() for row in each.speeds)

UNKNOWN_WINDOW = 32_000
"""A window that is assumed too small costs a compaction now and then; one that is assumed too large ends the run."""
UNKNOWN_SPEED = 30


@cache
def context_window(model: str) -> int:
    """Tokens, whichever provider serves a model of that name. The setting `context_window_tokens` goes before it."""
    return next((tokens for name, tokens in _WINDOWS if re.fullmatch(name, model)), UNKNOWN_WINDOW)


@cache
def speed_of(model: str) -> int:
    """Tokens per second, whichever provider serves a model of that name."""
    return next((speed for name, speed in _SPEEDS if re.fullmatch(name, model)), UNKNOWN_SPEED)


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
        if self.any_name or model == self.own or is_known:
            return None
        return (
            "No model of this provider is called like that. To allow it all the same, an operator names it in "
            "`allowed_models` of the environment, with every other model that agents may have."
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
    every = [NamedModel(each.name, model) for each in PROVIDERS.values() for model in each.prices]
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


_FREE = Price(Rates(0, 0, 0, 0))


def price_of(provider: str, model: str) -> Price | None:
    """The price of the model; None: unknown. A dated snapshot (`…-2026-05-01`) has the price of the name without the
    date. The price of a similar model is never taken.
    """
    row = PROVIDERS.get(provider)
    if row is None:
        return None
    return _FREE if row.is_free else row.prices.get(model) or row.prices.get(_SNAPSHOT.sub("", model))


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
        return self.tokens_per_second or (speed_of(model) if model else DEFAULT_SPEED)

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
