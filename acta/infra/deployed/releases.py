"""Which releases a deployment still has versions of, which one is live, how to move to another one, and which schema
version the next one writes.

A release has one version of each function (ADR 76). Its variables say what it is called, which schema version it writes
and which one it knows. To go back is to move every alias to the versions of an earlier release. That takes back the
functions and their variables, and nothing else of the stack.

While CloudFormation replaces the functions, old and new ones work on the same sessions, and a deployment may be rolled
back. So what a deployment writes must be readable for what is deployed now (docs/design/releases.md 7). No schema
version may be skipped: a release writes its own version or the one before, and reads up to the one after.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.engine.settings import PREFIX
from acta.engine.store.schema import CURRENT
from acta.infra.deployed.account import AWS_ERRORS, pages, unless
from acta.infra.deployed.stacks import described
from acta.infra.environments import Environment
from acta.infra.names import ALIAS, READS_VERSION, function_name, own_tool_function, stateless_stack
from acta.infra.sizing import FunctionName

LATEST = "$LATEST"
KEPT = 10
"""How many releases a deployment keeps versions of. Lambda keeps 75 GB of code in a region; a release is some 50 MB."""
BACKWARDS: tuple[FunctionName, ...] = (
    "start", "mcp", "wake", "intervene", "admin", "recover", "step", "tool", "notify", "usage", "traces", "status",
    "console", "fallback",
)  # fmt: skip
"""The order in which functions go back: those that begin work and write first, those that only read last. So nothing
writes as the newer release once a reader has gone back to the older one. Going forward, the order is reversed."""


class NotPossible(Exception):
    """The message says why the aliases stay where they are, and what to do."""


class MovedByAnother(Exception):
    """Somebody else has moved an alias meanwhile."""


@dataclass(frozen=True)
class Release:
    """`versions`: function -> its version. `writes`: the schema version that the release writes. `reads`: the newest
    schema version that it knows. `made_at`: when its newest version was published, as AWS gives it.
    """

    name: str
    versions: Mapping[FunctionName, str]
    writes: int
    reads: int
    made_at: str


@dataclass(frozen=True)
class ReleaseHistory:
    """`releases`: newest first. `live`: function -> the version that its alias names. `shifting`: functions whose alias
    names two versions. `revisions`: those of the aliases. `replaced`: function -> versions that a newer version of the
    same release has replaced.
    """

    environment: str
    releases: Sequence[Release]
    live: Mapping[FunctionName, str]
    shifting: Sequence[FunctionName] = ()
    revisions: Mapping[FunctionName, str] = field(default_factory=dict)
    replaced: Mapping[FunctionName, Sequence[str]] = field(default_factory=dict)

    def is_live(self, release: Release) -> bool:
        """Whether the aliases name the versions of this release, and of no other."""
        return all(self.live[name] == version for name, version in release.versions.items())

    @property
    def live_releases(self) -> Sequence[Release]:
        """Those of which an alias names a version, newest first."""
        return [
            each
            for each in self.releases
            if any(self.live[name] == version for name, version in each.versions.items())
        ]

    @property
    def newest_live(self) -> int:
        """The index in `releases` of the newest one that an alias names; -1 where none of them is named."""
        return self.releases.index(self.live_releases[0]) if self.live_releases else -1

    @property
    def has_gone_back(self) -> bool:
        """Whether an alias names an earlier version than the newest one."""
        return bool(self.releases) and not self.is_live(self.releases[0])


def look(environment: str, lambdas: Any) -> ReleaseHistory:
    """`lambdas`: a botocore Lambda client. Raises NotPossible where the functions have no aliases, or none are there;
    and what `Service.call` raises.
    """
    service = Service("lambda", lambdas)
    found: dict[FunctionName, list[Mapping[str, Any]]] = {}
    live: dict[FunctionName, str] = {}
    revisions: dict[FunctionName, str] = {}
    shifting: list[FunctionName] = []
    for name in get_args(FunctionName):
        function = function_name(environment, name)
        versions = _versions(service, function)
        if not versions:
            continue  # an environment without notifications has no function for them
        alias = unless(NOT_FOUND, service, "get_alias", FunctionName=function, Name=ALIAS)
        if alias is None:
            raise NotPossible(
                f"{function} has no alias {ALIAS}: it was deployed by a release that has none; deploy this one first"
            )
        found[name], live[name] = versions, alias["FunctionVersion"]
        revisions[name] = alias.get("RevisionId", "")
        if (alias.get("RoutingConfig") or {}).get("AdditionalVersionWeights"):
            shifting.append(name)
    if not found:
        raise NotPossible(f"there are no functions acta-{environment}-… in this account and region")
    releases = _releases(found, live)
    return ReleaseHistory(environment, releases, live, shifting, revisions, _replaced(found, releases))


def _versions(service: Service, function: str) -> list[Mapping[str, Any]]:
    """Oldest first, `$LATEST` at the end. Empty: there is no such function."""
    found: list[Mapping[str, Any]] = []
    try:
        for page in pages(
            service, "list_versions_by_function", "NextMarker", "Marker", FunctionName=function
        ):
            found += page["Versions"]
    except AwsRefused as refused:
        if refused.code == NOT_FOUND:
            return []
        raise
    return sorted(found, key=lambda each: float("inf") if each["Version"] == LATEST else int(each["Version"]))


def _releases(
    found: Mapping[FunctionName, Sequence[Mapping[str, Any]]], live: Mapping[FunctionName, str]
) -> list[Release]:
    """`$LATEST` counts as a release if the alias names it or if it was never published: locally, a deployment publishes
    nothing.
    """
    versions: dict[str, dict[FunctionName, Mapping[str, Any]]] = {}
    for name, several in found.items():
        for each in several:
            release = _variable(each, "release")
            published = release in versions and name in versions[release]
            if release and not (each["Version"] == LATEST and published and live[name] != LATEST):
                versions.setdefault(release, {})[name] = each
    made = [
        Release(
            name,
            {function: each["Version"] for function, each in of.items()},
            writes=max(int(_variable(each, "write_version") or 0) for each in of.values()),
            reads=min(int(_variable(each, "reads_version") or 0) for each in of.values()),
            made_at=max(each["LastModified"] for each in of.values()),
        )
        for name, of in versions.items()
    ]
    return sorted(made, key=lambda each: each.made_at, reverse=True)


def _replaced(
    found: Mapping[FunctionName, Sequence[Mapping[str, Any]]], releases: Sequence[Release]
) -> dict[FunctionName, list[str]]:
    newest = {(each.name, name): version for each in releases for name, version in each.versions.items()}
    return {
        name: [
            each["Version"]
            for each in several
            if newest.get((_variable(each, "release"), name), each["Version"]) != each["Version"]
        ]
        for name, several in found.items()
    }


def _variable(version: Mapping[str, Any], name: str) -> str:
    found: str = (version.get("Environment") or {}).get("Variables", {}).get(f"{PREFIX}{name.upper()}", "")
    return found


def choose(deployed: ReleaseHistory, to: str | None) -> Release:
    """The release to move to: `to`, or the newest one that is older than what is live. Raises NotPossible."""
    if deployed.shifting:
        raise NotPossible(
            f"a release is being taken into use just now ({', '.join(deployed.shifting)} have two versions). To take "
            f"it back: aws cloudformation cancel-update-stack --stack-name {stateless_stack(deployed.environment)}"
        )
    if to is None:
        older = deployed.releases[deployed.newest_live + 1 :]
        if not older:
            raise NotPossible(
                "no earlier release is kept here: check out the release that you want and deploy it"
            )
        target = older[0]
    else:
        named = [each for each in deployed.releases if each.name == to]
        if not named:
            raise NotPossible(
                f"no release {to!r} is kept here; `acta releases` lists those that are. Others can be deployed"
            )
        target = named[0]
    _check_readable(deployed, target)
    return target


def _check_readable(deployed: ReleaseHistory, target: Release) -> None:
    """The older release has to go on with what newer ones have stored (docs/design/releases.md 7)."""
    written = max(each.writes for each in deployed.releases[: deployed.releases.index(target) + 1])
    if written > target.reads + 1:
        raise NotPossible(
            f"{target.name} reads schema version {target.reads + 1} at most, and {written} was written since: sessions "
            "would stand still there. Mend what is wrong and deploy that"
        )
    if written > target.reads:
        raise NotPossible(
            f"schema version {written} was written since, and the stack keeps nothing any more that {target.name} "
            "alone needs. It can read what is stored: check it out and run `acta deploy`, which brings all of it"
        )


def require_rest(environment: str, cloudformation: Any) -> None:
    """`cloudformation`: a botocore client. Raises NotPossible while the stack is being changed, and what `Service.call`
    raises.
    """
    name = stateless_stack(environment)
    stack = described(name, cloudformation)
    if stack is not None and stack["StackStatus"].endswith("_IN_PROGRESS"):
        raise NotPossible(
            f"the stack {name} is being changed just now ({stack['StackStatus']}). Wait until that is over, or take it "
            f"back: aws cloudformation cancel-update-stack --stack-name {name}"
        )


def move(deployed: ReleaseHistory, target: Release, lambdas: Any) -> Iterator[FunctionName]:
    """Moves the aliases one after the other and yields each function that was moved. An alias that is already right is
    left alone, so a move that broke off can be repeated. A function that the release does not have stays as it is.

    Raises MovedByAnother, and what `Service.call` raises.
    """
    service = Service("lambda", lambdas)
    back = deployed.releases.index(target) > deployed.newest_live
    for name in BACKWARDS if back else reversed(BACKWARDS):
        version = target.versions.get(name)
        if version is None or deployed.live.get(name) == version:
            continue
        try:
            service.call(
                "update_alias",
                FunctionName=function_name(deployed.environment, name),
                Name=ALIAS,
                FunctionVersion=version,
                RoutingConfig={"AdditionalVersionWeights": {}},
                RevisionId=deployed.revisions[name],
            )
        except AwsRefused as refused:
            if refused.code == "PreconditionFailedException":
                raise MovedByAnother from None
            raise
        yield name


@dataclass(frozen=True)
class LiveRelease:
    """What is live in an environment before a deployment. `deployed` None: nothing is, or a release without aliases.
    `unknown`: AWS's error, where it did not say; else empty.
    """

    deployed: ReleaseHistory | None = None
    unknown: str = ""

    @property
    def has_gone_back(self) -> bool:
        return self.deployed is not None and self.deployed.has_gone_back

    def reads(self, otherwise: int) -> int:
        """The newest schema version that all live functions know, which after a rollback is not the stack's.
        `otherwise`: the answer where no function has an alias or says what it knows.
        """
        releases = () if self.deployed is None else self.deployed.live_releases
        return min((each.reads for each in releases), default=otherwise)


def look_before(environment: str, lambdas: Any) -> LiveRelease:
    """Like `look`, but for an environment that may not exist and a caller who may not be allowed to read it."""
    try:
        return LiveRelease(look(environment, lambdas))
    except NotPossible:
        return LiveRelease()
    except AWS_ERRORS as error:
        return LiveRelease(unknown=str(error))


def forget_old(deployed: ReleaseHistory, lambdas: Any, kept: int = KEPT) -> int:
    """Deletes the versions of all releases but the `kept` newest, and versions that a newer one of their release
    replaced. Returns how many were deleted. A version that an alias names stays, and during a roll-out nothing is
    deleted. For folders of Python tools, the versions stay that some version of `tool` calls.
    """
    if deployed.shifting:
        return 0
    old = [each for release in deployed.releases[kept:] for each in release.versions.items()]
    old += [(name, version) for name, several in deployed.replaced.items() for version in several]
    unused = [(name, version) for name, version in old if version not in (LATEST, deployed.live[name])]
    service = Service("lambda", lambdas)
    for name, version in unused:
        function = function_name(deployed.environment, name)
        service.call("delete_function", FunctionName=function, Qualifier=version)
    return len(unused) + _forget_tools(deployed.environment, service)


def tools_gone(deployed: ReleaseHistory, release: Release, lambdas: Any) -> list[str]:
    """Folders of Python tools whose version the release calls, but which no longer exists: in that release, calls of
    their tools fail. Raises what `Service.call` raises.
    """
    service = Service("lambda", lambdas)
    of_tool = _versions(service, function_name(deployed.environment, "tool"))
    chosen = [each for each in of_tool if each["Version"] == release.versions.get("tool")]
    called = {folder: version for each in chosen for folder, version in _called_by(each).items()}
    return [
        folder
        for folder, version in sorted(called.items())
        if version
        not in [
            each["Version"] for each in _versions(service, own_tool_function(deployed.environment, folder))
        ]
    ]


def _called_by(version: Mapping[str, Any]) -> Mapping[str, str]:
    """Folder -> the version of its function that this version of `tool` calls."""
    found: Mapping[str, str] = json.loads(_variable(version, "tool_versions") or "{}")
    return found


def _forget_tools(environment: str, service: Service) -> int:
    """Deletes versions of Python tool folders that no version of `tool` names (ADR 87). Returns how many."""
    called: dict[str, set[str]] = {}
    for each in _versions(service, function_name(environment, "tool")):
        for folder, version in _called_by(each).items():
            called.setdefault(own_tool_function(environment, folder), set()).add(version)
    unused = [
        (function, each["Version"])
        for function, versions in called.items()
        for each in _versions(service, function)
        if each["Version"] not in (LATEST, *versions)
    ]
    for function, version in unused:
        service.call("delete_function", FunctionName=function, Qualifier=version)
    return len(unused)


NOT_ASKED = LiveRelease()


class ReleaseTooFar(ValueError):
    """The deployed release and this one cannot work on the same sessions. The message says what can be done."""


class WriteVersion(NamedTuple):
    """`version`: what to write. `reason` and `next_step`: for a person, a sentence each; `next_step` empty: none."""

    version: int
    reason: str
    next_step: str = ""


def version_to_write(
    environment: Environment, cloudformation: Any, live: LiveRelease = NOT_ASKED, current: int = CURRENT
) -> WriteVersion:
    """`cloudformation`: a botocore client. `live`: what is live now, which may be an earlier release again. `current`:
    the schema version of this release.

    Raises ReleaseTooFar.
    """
    previous, following = max(current - 1, 1), current + 1
    again = f"acta deploy --env {environment.name}"
    try:
        reads = deployed_reads(environment, cloudformation)
    except AWS_ERRORS as error:
        return WriteVersion(
            previous,
            f"what the deployed release reads is unknown ({error})",
            f"Where it is this release already, run `{again}` again as somebody who may describe its stack.",
        )
    if reads is None:
        return WriteVersion(current, "nothing is deployed yet")
    reads = min(reads, live.reads(reads))
    if reads < previous:
        raise ReleaseTooFar(
            f"the deployed release reads schema version {reads} and this one writes {previous} or {current}: deploy "
            "the releases in between first, one after the other"
        )
    if reads > following:
        raise ReleaseTooFar(
            f"the deployed release writes schema version {reads - 1} or {reads} and this one reads no more than "
            f"{following}: go back one release at a time"
        )
    if live.unknown:
        return WriteVersion(
            previous,
            f"what the live functions read is unknown ({live.unknown})",
            f"Where they are this release's already, run `{again}` again as somebody who may read their versions.",
        )
    if reads < current:
        return WriteVersion(
            reads,
            "the deployed release reads no newer one, and may have to be deployed again",
            f"Once this release has proved itself, run `{again}` again: it then writes {current}.",
        )
    return WriteVersion(current, "the deployed release reads it")


def deployed_reads(environment: Environment, cloudformation: Any) -> int | None:
    """The newest schema version that the deployed functions know; None: there are none.

    Raises AwsDenied, AwsRefused, StoreThrottled and StoreUnavailable where the stack cannot be described.
    """
    stack = described(stateless_stack(environment.name), cloudformation)
    if stack is None:
        return None
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}
    return int(outputs[READS_VERSION])
