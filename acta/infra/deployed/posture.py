"""Whether a deployment has the posture that its environment says: each point is read where AWS shows it, and compared.

Nothing is taken from the templates: a function, a pool or a topic that somebody changed by hand is seen as it is.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import NOT_FOUND
from acta.engine.settings import Settings, SettingsError
from acta.infra.deployed.account import AWS_ERRORS, Account, pages, reserved_now, unless
from acta.infra.environments import Environment
from acta.infra.lambdas.grants import gets
from acta.infra.names import ALIAS, function_name
from acta.infra.options import Network
from acta.infra.posture import POINTS, Point, applies, as_text, value_of
from acta.infra.sizing import FunctionName

PENDING = "PendingConfirmation"
"""What SNS says instead of the ARN of a subscription that nobody has confirmed."""
SLACK = "https://global.sns-api.chatbot.amazonaws.com"
"""The endpoint by which the service that writes into channels of Slack gets the messages of a topic."""


class NotSeen(Exception):
    """The message says why."""


class SeenPoint(NamedTuple):
    option: str
    wanted: str
    """What the environment says."""
    seen: str
    """What the deployment has, or why it cannot be seen."""
    state: Literal["has it", "differs", "not seen"]


class DeployedPosture:
    """`outputs`: of the stack that a release replaces."""

    def __init__(self, environment: Environment, account: Account, outputs: Mapping[str, str]) -> None:
        self._environment = environment
        self._account = account
        self._outputs = outputs
        self._settings: dict[str, Settings] = {}
        self._readers: Mapping[str, Callable[[], object]] = {
            "auth.mfa": self._mfa,
            "watch.emails": self._told,
            "reserved_concurrency": self._reserved,
            "tool_network": self._network,
        }

    def points(self) -> list[SeenPoint]:
        return [self._seen(each) for each in POINTS if applies(self._environment, each)]

    def _seen(self, point: Point) -> SeenPoint:
        wanted = self._wanted(point)
        try:
            seen = self._readers.get(point.option, lambda: self._setting(point))()
        except (NotSeen, *AWS_ERRORS) as why:
            return SeenPoint(point.option, as_text(wanted), f"not seen: {why}", "not seen")
        state: Literal["has it", "differs"] = "has it" if seen == wanted else "differs"
        return SeenPoint(point.option, as_text(wanted), as_text(seen), state)

    def _wanted(self, point: Point) -> object:
        if point.option == "tenant_share":
            return self._limits(self._environment.limits_by_tenant["*"]._asdict())
        if point.option == "watch.emails":
            return self._endpoints()
        value = value_of(self._environment, point)
        if isinstance(value, Network):
            return value.vpc_id
        return dict(value) if isinstance(value, Mapping) else value

    def _setting(self, point: Point) -> object:
        """As all functions that get the setting have it, under the alias by which they are called: each enforces the
        point for itself. Where only some have another value, a text that names them."""
        name, wanted = point.setting or point.option, self._wanted(point)
        having = [each for each in self._environment.functions if gets(each, name)]
        found = {each: self._setting_of(each, name) for each in having}
        others = [each for each in having if found[each] != wanted]
        if not others:
            return wanted
        if others == having and all(each == found[having[0]] for each in found.values()):
            return found[having[0]]
        return "; ".join(f"{each}: {as_text(found[each]) or 'none'}" for each in others)

    def _setting_of(self, function: FunctionName, name: str) -> object:
        if function not in self._settings:
            self._settings[function] = self._settings_of(function)
        value = getattr(self._settings[function], name)
        if name == "tenant_limits":
            return self._limits(value.get("*", {}))
        return dict(value) if isinstance(value, Mapping) else value

    @staticmethod
    def _limits(limits: Mapping[str, int | None]) -> dict[str, int | None]:
        return {name: limits.get(name) for name in ("open_sessions", "long_polls")}

    def _settings_of(self, function: FunctionName) -> Settings:
        variables = self._configuration(function).get("Environment", {}).get("Variables", {})
        try:
            return Settings.from_environ(variables)
        except SettingsError as error:
            raise NotSeen(f"the settings of {function} are not those of this release: {error}") from None

    def _configuration(self, function: FunctionName) -> Mapping[str, Any]:
        """Of the version that the alias names. Raises NotSeen."""
        name = function_name(self._environment.name, function)
        asked = {"FunctionName": name, "Qualifier": ALIAS}
        lambdas = self._service("lambda")
        found: Mapping[str, Any] | None = unless(NOT_FOUND, lambdas, "get_function_configuration", **asked)
        if found is None:
            raise NotSeen(f"there is no function {name}")
        return found

    def _network(self) -> object:
        """The VPC of the function that calls other servers; the template gives Python tools the same one."""
        return self._configuration("tool").get("VpcConfig", {}).get("VpcId") or False

    def _reserved(self) -> dict[FunctionName, int]:
        lambdas, name = self._service("lambda"), self._environment.name
        found = {
            each: reserved_now(lambdas, function_name(name, each)) for each in self._environment.functions
        }
        return {each: number for each, number in found.items() if number is not None}

    def _mfa(self) -> str:
        pool = self._outputs.get("UserPoolId")
        if pool is None:
            raise NotSeen("the stack has no output UserPoolId")
        answer = self._service("cognito-idp").call("describe_user_pool", UserPoolId=pool)["UserPool"]
        return {"ON": "required", "OPTIONAL": "optional"}.get(answer.get("MfaConfiguration", "OFF"), "off")

    def _endpoints(self) -> tuple[str, ...]:
        """Of everybody who is to be told of alarms: a webhook or a channel may stand for the addresses."""
        watch = self._environment.watch
        return (*(watch.emails or ()), *watch.webhooks, *((SLACK,) if watch.slack is not None else ()))

    def _told(self) -> tuple[str, ...]:
        """The addresses that were confirmed. Others are named as what they are, so that they differ."""
        topic, wanted = self._outputs.get("AlarmsTopicArn"), self._endpoints()
        if topic is None and not wanted:
            return ()
        if topic is None:
            raise NotSeen("the stack has no output AlarmsTopicArn")
        listed = pages(self._service("sns"), "list_subscriptions_by_topic", "NextToken", TopicArn=topic)
        every = [each for page in listed for each in page["Subscriptions"]]
        found = [each for each in every if each["Protocol"] in ("email", "https")]
        waits = {each["Endpoint"] for each in found if each["SubscriptionArn"] == PENDING}
        there = [each["Endpoint"] for each in found]
        in_order = [
            *(each for each in wanted if each in there),
            *(each for each in there if each not in wanted),
        ]
        return tuple(f"{each} (not confirmed)" if each in waits else each for each in in_order)

    def _service(self, name: str) -> Service:
        client: Any = self._account.client(name)
        return Service(name, client)
