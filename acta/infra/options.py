"""What an operator may choose for an environment in AWS, as data: a key, addresses, a firewall, a network, and how new
releases are taken into use.

Each is a field of `Environment` and off by default. What each one does and needs: docs/options.md. An impossible value
raises ValueError as soon as the object is created, so the synthesis reports it before a deployment.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from acta.engine.bound_tenant import TENANT_PATTERN
from acta.engine.triggers.sources import (
    EVERY_TENANT,
    MAX_SOURCE_CHARS,
    MAX_SOURCES,
    PATH_PATTERN,
    SOURCE_PATTERN,
    TENANT_FOLDER,
    EventSource,
)

_HOST = re.compile(r"(?=.{4,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CERTIFICATE = re.compile(r"arn:aws[a-z-]*:acm:(?P<region>[a-z0-9-]+):\d{12}:certificate/[\w-]+")
_KEY = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[\w-]+")
_WEB_ACL = re.compile(r"arn:aws[a-z-]*:wafv2:us-east-1:\d{12}:global/webacl/[\w-]+/[\w-]+")
_ID = r"-[0-9a-f]{8,17}"

FIREWALL_SECONDS = 300
"""The firewall counts the requests of an address within this time."""
EDGE_REGION = "us-east-1"
"""CloudFront takes certificates and firewalls of this region only."""
LEAST_PER_ADDRESS = 10
MOST_PER_ADDRESS = 2_000_000_000
"""What a rate-based rule of the firewall can count. Source: AWS WAF developer guide, "Rate-based rule settings"."""


@dataclass(frozen=True)
class CustomerKey:
    """A KMS key of the account encrypts what Acta stores. `arn`: an existing key, whose policy its owner writes; None:
    Acta makes one, which AWS rotates each year.
    """

    arn: str | None = None

    def __post_init__(self) -> None:
        if self.arn is not None:
            _require(_KEY.fullmatch(self.arn), "CustomerKey.arn", "the ARN of a KMS key, not of an alias")


@dataclass(frozen=True)
class Domain:
    """A host name that the operator owns, and its certificate in ACM, in the region where the name is used."""

    name: str
    certificate_arn: str

    def __post_init__(self) -> None:
        _require(
            _HOST.fullmatch(self.name), "Domain.name", "a host name in lower case, such as acta.example.com"
        )
        _require(
            _CERTIFICATE.fullmatch(self.certificate_arn), "Domain.certificate_arn", "the ARN of a certificate"
        )

    @property
    def region(self) -> str:
        """Where the certificate is."""
        found = _CERTIFICATE.fullmatch(self.certificate_arn)
        assert found is not None
        return found["region"]


@dataclass(frozen=True)
class Edge:
    """CloudFront with a firewall in front of the API. People use `domain`; requests that come another way are refused.

    `origin_hashes`: SHA-256, in hex, of the secret that CloudFront sends along. The functions know the hashes only. The
    secret is `acta/<env>/origin` of us-east-1. Give two hashes while the secret is being replaced; the first is the one
    in use. `requests_per_address`: the most that one address may send within five minutes; more are refused with 403.
    It is at most half of what an open route takes from all addresses in that time (`Environment.open_rate_limit`).
    `web_acl_arn`: a firewall of the operator's, instead of Acta's.
    """

    domain: Domain
    origin_hashes: tuple[str, ...]
    requests_per_address: int = 1_500
    web_acl_arn: str | None = None

    def __post_init__(self) -> None:
        _require(
            self.domain.region == EDGE_REGION, "Edge.domain", f"a domain with a certificate of {EDGE_REGION}"
        )
        hashes = [each for each in self.origin_hashes if _SHA256.fullmatch(each)]
        fits = len(hashes) == len(self.origin_hashes) and 1 <= len(hashes) <= 2
        _require(fits, "Edge.origin_hashes", "one SHA-256 in hex, or two while the secret is being replaced")
        _require_rate("Edge", self.requests_per_address)
        if self.web_acl_arn is not None:
            _require(
                _WEB_ACL.fullmatch(self.web_acl_arn),
                "Edge.web_acl_arn",
                f"a web ACL of {EDGE_REGION}, scope CLOUDFRONT",
            )


@dataclass(frozen=True)
class SignInFirewall:
    """A firewall on Acta's own user pool. `requests_per_address`: the most in five minutes, to the whole pool."""

    requests_per_address: int = 300

    def __post_init__(self) -> None:
        _require_rate("SignInFirewall", self.requests_per_address)


@dataclass(frozen=True)
class Network:
    """The function `tool` and those of Python tools run in these subnets and reach what their security group allows, on
    port 443 and no other.

    `prefix_list_ids`: AWS's lists of the addresses of DynamoDB and S3 in this region. `egress`: further networks (CIDR)
    that tools may reach, by the routes of the subnets; empty: tools reach nothing outside AWS. `route_table_ids`: the
    subnets' route tables. Where some are given, Acta creates the endpoints for DynamoDB, S3, STS, Lambda, Secrets
    Manager and Step Functions, for this account's resources alone; otherwise the VPC must have them. Private names of
    endpoints hold in the whole VPC, and these admit tools alone, so nothing else may use the VPC.
    """

    vpc_id: str
    subnet_ids: tuple[str, ...]
    prefix_list_ids: tuple[str, ...]
    egress: tuple[str, ...] = ()
    route_table_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require(re.fullmatch("vpc" + _ID, self.vpc_id), "Network.vpc_id", "the id of a VPC")
        for field, prefix, ids, least in (
            ("subnet_ids", "subnet", self.subnet_ids, 1),
            ("prefix_list_ids", "pl", self.prefix_list_ids, 2),
            ("route_table_ids", "rtb", self.route_table_ids, 0),
        ):
            fits = len(ids) >= least and all(re.fullmatch(prefix + _ID, each) for each in ids)
            _require(fits, f"Network.{field}", f"ids that begin with {prefix}-, at least {least}")
        for each in self.egress:
            try:
                ipaddress.ip_network(each)
            except ValueError:
                _require(None, "Network.egress", f"networks such as 203.0.113.0/24, not {each!r}")


@dataclass(frozen=True)
class SlackChannel:
    """A channel of a workspace that the account's Amazon Q Developer in chat applications (AWS Chatbot) has joined."""

    workspace_id: str
    channel_id: str

    def __post_init__(self) -> None:
        _require(
            re.fullmatch(r"T[0-9A-Z]{8,12}", self.workspace_id),
            "SlackChannel.workspace_id",
            "such as T012ABCDE",
        )
        _require(
            re.fullmatch(r"[CG][0-9A-Z]{8,12}", self.channel_id),
            "SlackChannel.channel_id",
            "such as C012ABCDE",
        )


@dataclass(frozen=True)
class MonthlyBudget:
    """AWS Budgets sends a message at `warn_at_percent`, at 100 % and when a forecast exceeds it. It stops nothing.

    `tagged_only`: count only what has this deployment's tag `environment`, which somebody must first activate as a cost
    allocation tag; otherwise the budget is for the whole account.
    """

    usd: float
    warn_at_percent: int = 80
    tagged_only: bool = False

    def __post_init__(self) -> None:
        _require(self.usd > 0, "MonthlyBudget.usd", "more than 0")
        _require(1 <= self.warn_at_percent < 100, "MonthlyBudget.warn_at_percent", "1 to 99")


@dataclass(frozen=True)
class Watch:
    """Who is told when something is wrong, and how much spending counts as wrong.

    `emails`, `webhooks` (https), `slack`: they get every alarm; email addresses and webhooks have to confirm once.
    `emails` None: as the posture says.
    `runbook`: the address of this repository's `docs/operations.md` where your people read it. `usd_per_hour`: what all
    model calls together may cost in an hour before an alarm; None: no such alarm.
    """

    emails: tuple[str, ...] | None = None
    webhooks: tuple[str, ...] = ()
    slack: SlackChannel | None = None
    runbook: str = "docs/operations.md"
    usd_per_hour: float | None = 20.0
    budget: MonthlyBudget | None = None

    def __post_init__(self) -> None:
        for address in self.emails or ():
            name, _, host = address.rpartition("@")
            is_one = name.isprintable() and name and " " not in address and _HOST.fullmatch(host.lower())
            _require(is_one, "Watch.emails", f"addresses such as oncall@example.com, not {address!r}")
        for url in self.webhooks:
            parts = urlsplit(url)
            is_https = parts.scheme == "https" and _HOST.fullmatch(parts.hostname or "")
            _require(is_https, "Watch.webhooks", f"addresses that begin with https://, not {url!r}")
        fits = self.runbook == "docs/operations.md" or self.runbook.startswith("https://")
        _require(
            fits and "#" not in self.runbook,
            "Watch.runbook",
            "an address that begins with https://, without #",
        )
        _require(
            self.usd_per_hour is None or self.usd_per_hour > 0, "Watch.usd_per_hour", "more than 0, or None"
        )


@dataclass(frozen=True)
class AtOnce:
    """A new release is taken into use at once: each alias names the new version as soon as CloudFormation updates it.
    Nothing rolls the release back by itself."""


@dataclass(frozen=True)
class Canary:
    """A tenth of the calls goes to the new version, and after `minutes` all of them do."""

    minutes: Literal[5, 10, 15, 30]

    def __post_init__(self) -> None:
        _require(self.minutes in (5, 10, 15, 30), "Canary.minutes", "5, 10, 15 or 30")


@dataclass(frozen=True)
class Linear:
    """Every `minutes`, another tenth of the calls goes to the new version, until after ten steps all of them do."""

    minutes: Literal[1, 2, 3, 10]

    def __post_init__(self) -> None:
        _require(self.minutes in (1, 2, 3, 10), "Linear.minutes", "1, 2, 3 or 10")


Way = AtOnce | Canary | Linear
"""The times and the tenth are AWS's own. Source: AWS CodeDeploy user guide, "Deployment configurations on an AWS Lambda
compute platform"."""
AT_ONCE = AtOnce()


@dataclass(frozen=True)
class BusEvents:
    """Events of an EventBridge bus of the account that fit `pattern`, which is a whole event pattern of EventBridge.

    `bus`: its name. `id`: the path in the event that leads to what makes it one event, such as `detail.order_id`;
    EventBridge's own `id` differs where a producer sends the same twice. `tenant`: the path that leads to the tenant's
    name, such as `detail.tenant`. `tenants`: whose triggers may name the source; without a path, each event is for all
    of them.
    """

    pattern: Mapping[str, Any]
    bus: str = "default"
    id: str = "id"
    tenant: str = ""
    tenants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require(self.pattern, "BusEvents.pattern", 'an event pattern, such as {"source": ["shop"]}')
        _require(
            re.fullmatch(r"[\w./-]{1,256}", self.bus), "BusEvents.bus", "the name of a bus of the account"
        )
        _check_found("BusEvents", self.id, self.tenant, self.tenants)

    @property
    def source(self) -> EventSource:
        return EventSource("bus", tenants=self.tenants or (EVERY_TENANT,), tenant=self.tenant, id=self.id)


@dataclass(frozen=True)
class QueueMessages:
    """Messages of an SQS queue of the operator's, in the account and region of the environment. Each is a JSON object;
    what cannot be used stays in the queue, which therefore needs a dead-letter queue.

    `queue`: its name. `id`: the path in the message that leads to what makes it one event; empty: the message's id.
    `tenant`, `tenants`: as in `BusEvents`. `key_arn`: the KMS key of the queue, where it is encrypted with one of the
    account's.
    """

    queue: str
    id: str = ""
    tenant: str = ""
    tenants: tuple[str, ...] = ()
    key_arn: str | None = None

    def __post_init__(self) -> None:
        _require(
            re.fullmatch(r"[\w-]{1,75}(\.fifo)?", self.queue),
            "QueueMessages.queue",
            "the name of a queue, no URL",
        )
        _check_found("QueueMessages", self.id or "id", self.tenant, self.tenants)
        if self.key_arn is not None:
            _require(
                _KEY.fullmatch(self.key_arn), "QueueMessages.key_arn", "the ARN of a KMS key, not of an alias"
            )

    @property
    def source(self) -> EventSource:
        tenants = self.tenants or (EVERY_TENANT,)
        return EventSource("queue", tenants=tenants, tenant=self.tenant, id=self.id, queue=self.queue)


@dataclass(frozen=True)
class BucketObjects:
    """Objects that are created in a bucket of the operator's, which sends its events to EventBridge (a property of the
    bucket).

    `prefix`: of the keys. `{tenant}` in it stands for the folder that is named after the tenant: `in/{tenant}/`.
    `tenants`: as in `BusEvents`; without such a folder, each object is for all of them.
    """

    bucket: str
    prefix: str = ""
    tenants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require(
            re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", self.bucket),
            "BucketObjects.bucket",
            "a bucket's name",
        )
        before, found, after = self.prefix.partition(TENANT_FOLDER)
        fits = not found or (after.startswith("/") and (not before or before.endswith("/")))
        _require(fits, "BucketObjects.prefix", "such as in/{tenant}/: the tenant's name is a whole folder")
        _check_found("BucketObjects", "id", "key" if found else "", self.tenants)

    @property
    def source(self) -> EventSource:
        return EventSource("bucket", tenants=self.tenants or (EVERY_TENANT,), prefix=self.prefix)


@dataclass(frozen=True)
class WrittenFiles:
    """Files of Acta whose path begins with `prefix`, such as `invoices/`, whoever writes them: people and programs over
    the API, agents, and whoever puts objects into the bucket directly. Private files are not among them.

    `tenants`: whose files, and whose triggers may name the source; empty: everybody's.
    """

    prefix: str = ""
    tenants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fits = (
            not self.prefix.startswith(("/", "~")) and self.prefix.isprintable() and "\\" not in self.prefix
        )
        _require(fits, "WrittenFiles.prefix", "the beginning of files' paths, such as invoices/")
        _check_found("WrittenFiles", "id", "key", self.tenants)

    @property
    def source(self) -> EventSource:
        return EventSource("files", tenants=self.tenants or (EVERY_TENANT,), prefix=self.prefix)


EVENTS_CONCURRENCY = 5
"""Invocations of `wake` at the same time for each queue that events come from."""
OperatorsSource = BusEvents | QueueMessages | BucketObjects | WrittenFiles


def check_sources(sources: Mapping[str, OperatorsSource]) -> None:
    """Raises ValueError for names that triggers cannot use, and for a queue that two sources read."""
    _require(len(sources) <= MAX_SOURCES, "event_sources", f"{MAX_SOURCES} at most")
    for name in sources:
        fits = re.fullmatch(SOURCE_PATTERN, name) and len(name) <= MAX_SOURCE_CHARS
        _require(
            fits,
            "event_sources",
            f"named with a-z, 0-9 and single hyphens, {MAX_SOURCE_CHARS} at most, not {name!r}",
        )
    queues = [each.queue for each in sources.values() if isinstance(each, QueueMessages)]
    _require(
        len(queues) == len(set(queues)),
        "event_sources",
        "with one source for each queue: its messages are read once",
    )


def _check_found(kind: str, event_id: str, tenant: str, tenants: tuple[str, ...]) -> None:
    """`tenant`: not empty where the event says whose it is."""
    for name, path in (("id", event_id), ("tenant", tenant or event_id)):
        _require(
            re.fullmatch(PATH_PATTERN, path), f"{kind}.{name}", "a path in the event, such as detail.order_id"
        )
    names = isinstance(tenants, tuple) and all(
        each == EVERY_TENANT or re.fullmatch(TENANT_PATTERN, each) for each in tenants
    )
    _require(names, f"{kind}.tenants", "a tuple of names of tenants")
    says = tenant or (tenants and EVERY_TENANT not in tenants)
    _require(
        says,
        f"{kind}.tenants",
        "the tenants whose events these are, where no path or folder leads to the tenant",
    )


OWN_TAGS = ("service", "environment")
"""Tags that Acta sets itself."""
MOST_TAGS = 48
"""AWS allows 50 tags on a resource; Acta sets two of them."""
_TAG = re.compile(r"[\w .:/=+@-]+")


def check_place(account: str | None, region: str | None) -> None:
    """Raises ValueError unless both are given, or neither."""
    if account is None and region is None:
        return
    _require(
        account is not None and re.fullmatch(r"\d{12}", account),
        "account",
        "twelve digits, with a region beside",
    )
    _require(
        region is not None and re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", region),
        "region",
        "such as eu-west-1, with an account beside",
    )


def check_tags(tags: Mapping[str, str]) -> None:
    """Raises ValueError for tags that some resource would not take. Source: AWS's tagging guide, "Tag naming limits and
    requirements".
    """
    _require(len(tags) <= MOST_TAGS, "tags", f"{MOST_TAGS} at most")
    for key, value in tags.items():
        fits = _TAG.fullmatch(key) and len(key) <= 128 and not key.lower().startswith("aws:")
        _require(fits and key not in OWN_TAGS, "tags", f"{_TAGS_ARE}, not {key!r}")
        _require(
            len(value) <= 256 and (not value or _TAG.fullmatch(value)), "tags", f"{_TAGS_ARE}, not {value!r}"
        )


_TAGS_ARE = (
    "names (up to 128 characters, not service, environment or aws:…) and values (up to 256) of letters, digits, spaces "
    "and . : / = + @ _ -"
)


def check_boundary(arn: str) -> None:
    """Raises ValueError unless it is the ARN of a managed policy."""
    _require(
        re.fullmatch(r"arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[\w+=,.@/-]+", arn),
        "permissions_boundary",
        "the ARN of a managed policy",
    )


USUAL_QUALIFIER = "hnb659fds"
"""The qualifier of the CDK's own bootstrap, which other applications of an account use, too."""


def check_qualifier(qualifier: str) -> None:
    """Raises ValueError unless `cdk bootstrap` takes it."""
    _require(re.fullmatch(r"[a-z0-9]{1,10}", qualifier), "bootstrap_qualifier", "1 to 10 of a-z and 0-9")


def _require_rate(option: str, requests: int) -> None:
    fits = LEAST_PER_ADDRESS <= requests <= MOST_PER_ADDRESS
    _require(fits, f"{option}.requests_per_address", f"{LEAST_PER_ADDRESS} to {MOST_PER_ADDRESS}")


def _require(fits: object, field: str, what: str) -> None:
    if not fits:
        raise ValueError(f"{field} is {what}")
