"""Checks that change the deployment for a moment, and put back what they changed, also when they are interrupted.

Before each change the person at the terminal is told the command that puts it back, for the case that this process is
killed. A version that a check publishes is deleted again, and what the next deployment starts from (`$LATEST`) is as
CloudFormation left it.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from acta.cli.operations.verify.api import asked, ended, snapshot, start, waiting_for_a_review
from acta.cli.operations.verify.aws import LOOKED_AT_FIRST, alarms_of, kind_of, logged, releases_of
from acta.cli.operations.verify.checks import CheckFailed, CheckUnanswered, Figures, NotPutBack, Verified
from acta.client.following import has_ended
from acta.engine.aws.errors import NOT_FOUND
from acta.engine.recovery.outage import WORKER_LOST
from acta.infra.deployed.account import unless
from acta.infra.deployed.releases import MovedByAnother, NotPossible, choose, move, require_rest
from acta.infra.names import ALIAS, function_name
from acta.infra.sizing import FunctionName

LEAST_MEMORY = 128
"""MB. The least that Lambda gives a function."""
MORE_MEMORY = {"PYTHONTRACEMALLOC": "25"}
"""Has Python remember where each block of memory came from, which takes more than the blocks: a worker that has 100 MB
then has some 500 (measured). So it runs out of memory without another line of code."""
READY_SECONDS = 300
PUT_BACK_SECONDS = 300
"""How long a change is tried to be put back while AWS does not answer."""
MARK = "acta verify"
"""The description of every version that a check publishes, by which one that was left behind is found."""
CALLS = 40
HEALTH = {
    "version": "2.0", "routeKey": "GET /healthz", "rawPath": "/healthz", "rawQueryString": "", "headers": {},
    "requestContext": {
        "http": {"method": "GET", "path": "/healthz", "sourceIp": "127.0.0.1"}, "stage": "$default",
        "requestId": "acta-verify", "routeKey": "GET /healthz",
    },
    "isBase64Encoded": False,
}  # fmt: skip
"""An event as an HTTP API sends it. Source: API Gateway developer guide, "AWS Lambda proxy integrations for HTTP APIs",
payload format 2.0."""


def alarm_rings(deployed: Verified) -> Figures:
    """One alarm is set to ALARM: CloudWatch has to hand the message to the topic, which may be encrypted. CloudWatch
    itself puts the alarm back at its next look, within a minute or so; if not, it is put back here.
    """
    cloudwatch = deployed.aws("cloudwatch")
    # `first_hour` looks at the history of the alarms that are left out
    quiet = [
        each
        for each in alarms_of(deployed)
        if each["StateValue"] == "OK"
        # an alarm of the operator's own may stop or start something when it is raised
        and each["AlarmActions"] == [deployed.outputs.get("AlarmsTopicArn")]
        and not each["AlarmName"].endswith(LOOKED_AT_FIRST)
    ]
    if not quiet:
        raise CheckUnanswered("No alarm is at rest: run this command again later.")
    name = quiet[0]["AlarmName"]
    since = datetime.now(UTC) - timedelta(minutes=1)  # this machine's clock may be ahead of AWS's
    reason = "acta verify tries whether this alarm is told. Nothing is wrong."
    set_state = partial(cloudwatch.call, "set_alarm_state", AlarmName=name, StateReason=reason)
    undo = f"aws cloudwatch set-alarm-state --alarm-name {name} --state-value OK --state-reason tried"

    def look() -> list[str] | None:
        told = deployed.all(
            "cloudwatch",
            "describe_alarm_history",
            "AlarmHistoryItems",
            AlarmName=name,
            HistoryItemType="Action",
            StartDate=since,
        )
        return [each["HistorySummary"] for each in told] or None

    with put_back(deployed, undo, lambda: set_state(StateValue="OK")):
        set_state(StateValue="ALARM")
        late = CheckFailed("CloudWatch has not carried out the alarm's action within five minutes.")
        told = deployed.until_found(READY_SECONDS, look, late)
    if not any(each.startswith("Successfully executed action") for each in told):
        raise CheckFailed(
            "CloudWatch could not hand an alarm to its topic: look at the alarm's history in the console. If the "
            "topic is encrypted, CloudWatch may not use its key."
        )
    return {"alarm": kind_of(deployed, name), "messages": len(told)}


def alias_shifts_and_returns(deployed: Verified) -> Figures:
    """Half of the calls of `fallback` go to another version of it, then all, then none. `fallback` answers /healthz and
    paths that do not exist, and has no rights.
    """
    name = function_name(deployed.name, "fallback")
    lambdas = deployed.aws("lambda")

    def executed(times: int) -> list[str]:
        """The versions that answered so many calls of the alias."""
        versions = []
        for _ in range(times):
            found = lambdas.call(
                "invoke", FunctionName=name, Qualifier=ALIAS, Payload=json.dumps(HEALTH).encode()
            )
            if "FunctionError" in found:
                raise CheckFailed("A function fails while its alias is shifted: send us this report.")
            versions.append(found["ExecutedVersion"])
        return versions

    with (
        another_version(deployed, "fallback") as (old, new),
        alias_of(deployed, "fallback") as point_to,
    ):
        point_to(old, {new: 0.5})
        half = deployed.until(60, lambda: found if len(set(found := executed(CALLS))) == 2 else None)
        point_to(new, {})
        whole = deployed.until(60, lambda: True if set(executed(5)) == {new} else None)
        answered, _ = asked(deployed, "GET", "/healthz")
    back = deployed.until(60, lambda: True if set(executed(5)) == {old} else None)
    if half is None or whole is None or back is None or answered.status_code != 200:
        raise CheckFailed(
            "Calls did not follow the alias within a minute: a release cannot be rolled out or back in time. Send us "
            "this report.",
            half=len(set(half or ())),
            whole=str(whole is not None).lower(),
            back=str(back is not None).lower(),
            status=answered.status_code,
        )
    return {"calls": CALLS, "of_the_new_version": half.count(new)}


def release_goes_back(deployed: Verified) -> Figures:
    """What `acta rollback` does, there and back again, with a session in between."""
    deployed.api.me()  # nothing is moved where no session could be started
    lambdas = deployed.account.client("lambda")
    history = releases_of(deployed)
    try:
        require_rest(deployed.name, deployed.account.client("cloudformation"))
        live = history.live_releases[0]
        earlier = choose(history, None)
    except (NotPossible, IndexError):
        raise CheckUnanswered(
            "There is no earlier release to go back to, or one is being taken into use: deploy a change, then run this "
            "command again."
        ) from None
    undo = f"acta rollback --env {deployed.name} --to {live.name}"
    with put_back(deployed, undo, lambda: [*move(releases_of(deployed), live, lambdas)]):
        try:
            moved = [*move(history, earlier, lambdas)]
        except MovedByAnother:
            raise CheckUnanswered(
                "Somebody else moves aliases just now: run this command again later."
            ) from None
        session = ended(deployed, start(deployed))
    return {"functions": len(moved), "turns": session["run"]["iteration"]}


def lost_execution_goes_on(deployed: Verified) -> Figures:
    """The execution of a session that waits is stopped: EventBridge tells `recover`, which starts the next one."""
    states = deployed.aws("stepfunctions")
    session_id = waiting_for_a_review(deployed)["session_id"]
    arn = execution_of(deployed, session_id)
    states.call("stop_execution", executionArn=arn, error="ActaVerify")

    def look() -> str | None:
        found = execution_of(deployed, session_id)
        return found if found != arn else None

    lost = CheckFailed(
        "A session whose execution was stopped has no other one after five minutes: `acta doctor --repair`."
    )
    begun = deployed.clock()
    deployed.until_found(300, look, lost)
    seconds = deployed.seconds_since(begun)
    told = logged(deployed, ("recover",), session_id, timedelta(minutes=30))
    by_event = any(line.fields.get("message") == "execution ended" for line in told)
    (question,) = deployed.api.session(session_id)["interventions"][:1]
    deployed.api.decide(session_id, question["intervention_id"], "cancel")
    slow = CheckFailed("A session that went on in another execution does not obey a decision.")
    snapshot(deployed, session_id, has_ended, slow)
    return {"seconds": seconds, "told_by": "event" if by_event else "scan"}


def execution_of(deployed: Verified, session_id: str) -> str:
    """The ARN of the newest execution of the session. Raises CheckUnanswered."""
    listed = deployed.all(
        "stepfunctions",
        "list_executions",
        "executions",
        "nextToken",
        stateMachineArn=deployed.outputs["StateMachineArn"],
        maxResults=100,
    )
    found = next((each for each in listed if each["name"].startswith(f"{session_id}-")), None)
    if found is None:
        raise CheckUnanswered("Step Functions does not list the session's execution.")
    return str(found["executionArn"])


def memory_runs_out(deployed: Verified) -> Figures:
    """Where memory kills a session's workers, the error counts as a lost worker, and the session goes on afterwards."""
    with_more = {**variables(deployed), **MORE_MEMORY}
    return with_workers(deployed, MemorySize=LEAST_MEMORY, Environment={"Variables": with_more})


def time_runs_out(deployed: Verified) -> Figures:
    """The same where a worker does not come to its end in its time."""
    return with_workers(deployed, MemorySize=LEAST_MEMORY, Timeout=1)


def variables(deployed: Verified) -> Mapping[str, str]:
    found = deployed.configuration("step").get("Environment", {})
    if "Variables" not in found:
        raise CheckUnanswered("Your AWS credentials may not read the variables of the function step.")
    return dict(found["Variables"])


def with_workers(deployed: Verified, **different: Any) -> Figures:
    """A session begins with a version of `step` that differs, until a state of it fails; it ends with the usual one.

    Meanwhile other sessions meet this version, too. They are retried, or wait, and go on.
    """
    deployed.api.me()
    with another_version(deployed, "step", **different) as (_, new), alias_of(deployed, "step") as point_to:
        point_to(new, {})
        session_id = start(deployed)
        error = deployed.until(240, lambda: error_or_end(deployed, session_id))
    session = ended(deployed, session_id)
    if error is None or error == "":
        raise CheckUnanswered("The worker did its work all the same, so nothing was lost.")
    figures = {"error": error, "turns": session["run"]["iteration"]}
    if error not in WORKER_LOST and error != "States.Timeout":
        raise CheckFailed(
            "Step Functions gives a lost worker a name that Acta does not know as such: send us this report.",
            **figures,
        )
    return figures


def error_or_end(deployed: Verified, session_id: str) -> str | None:
    """The name of the newest error of the session's execution. Empty: the session has ended. None: neither yet."""
    try:
        arn = execution_of(deployed, session_id)
    except CheckUnanswered:
        return None  # it is listed a moment after it was started
    events = deployed.aws("stepfunctions").call("get_execution_history", executionArn=arn, reverseOrder=True)[
        "events"
    ]
    for event in events:
        for kind in (
            "taskFailedEventDetails",
            "lambdaFunctionFailedEventDetails",
            "taskTimedOutEventDetails",
        ):
            if kind in event:
                return str(event[kind].get("error", "unnamed"))
    return "" if has_ended(deployed.api.session(session_id)) else None


@contextmanager
def another_version(
    deployed: Verified, function: FunctionName, **different: Any
) -> Iterator[tuple[str, str]]:
    """The version that the alias names, and a new one with another configuration, which is deleted at the end. Raises
    CheckUnanswered while the alias names two versions, or the stack is being changed.
    """
    name, lambdas = function_name(deployed.name, function), deployed.aws("lambda")
    busy = CheckUnanswered("A release is being taken into use: run this command again when that is over.")
    try:
        require_rest(deployed.name, deployed.account.client("cloudformation"))
    except NotPossible:
        raise busy from None
    alias = lambdas.call("get_alias", FunctionName=name, Name=ALIAS)
    if (alias.get("RoutingConfig") or {}).get("AdditionalVersionWeights"):
        raise busy
    latest = lambdas.call("get_function_configuration", FunctionName=name)
    if latest.get("Description") == MARK:
        raise CheckFailed(
            "An earlier run of this command was killed and has left its change in a function: run the commands that it "
            "printed, and then this one again."
        )
    different["Description"] = MARK
    usual = {each: latest.get(each, "") for each in different}
    # the next release is published from $LATEST, and CloudFormation would not notice that it differs
    given = shlex.quote(json.dumps({"FunctionName": name, **usual}))

    def restore() -> None:
        change(deployed, name, usual)
        versions = deployed.all(
            "lambda",
            "list_versions_by_function",
            "Versions",
            "NextMarker",
            sent_as="Marker",
            FunctionName=name,
        )
        # a rollback would take the newest version of a release; one may be left of a run that was killed
        for version in [each["Version"] for each in versions if each.get("Description") == MARK]:
            unless(NOT_FOUND, lambdas, "delete_function", FunctionName=name, Qualifier=version)

    with put_back(deployed, f"aws lambda update-function-configuration --cli-input-json {given}", restore):
        change(deployed, name, different)
        new = lambdas.call("publish_version", FunctionName=name)["Version"]
        deployed.warn(f"aws lambda delete-function --function-name {name} --qualifier {new}")
        wait_until_ready(deployed, name, new)
        yield alias["FunctionVersion"], new


@contextmanager
def put_back(deployed: Verified, command: str, restore: Callable[[], object]) -> Iterator[None]:
    """Tells the command that puts back what is about to be changed. At the end `restore` does the same, again and again
    while AWS does not answer. Raises NotPutBack.
    """
    deployed.warn(command)

    def restored() -> bool | None:
        with suppress(Exception):  # of a network that is gone, too
            restore()
            return True
        return None

    others: tuple[str, ...] = ()
    try:
        yield
    except NotPutBack as inner:
        others = inner.args
        raise
    finally:
        if deployed.until(PUT_BACK_SECONDS, restored) is None:
            raise NotPutBack(*others, command)


def change(deployed: Verified, name: str, configuration: Mapping[str, Any]) -> None:
    """Changes `$LATEST` of the function. Lambda refuses that while it is still busy with the change before."""
    wait_until_ready(deployed, name)
    deployed.aws("lambda").call("update_function_configuration", FunctionName=name, **configuration)
    wait_until_ready(deployed, name)


def wait_until_ready(deployed: Verified, name: str, version: str = "$LATEST") -> None:
    def look() -> bool | None:
        found = deployed.aws("lambda").call(
            "get_function_configuration", FunctionName=name, Qualifier=version
        )
        return (
            True if (found.get("State"), found.get("LastUpdateStatus")) == ("Active", "Successful") else None
        )

    late = CheckFailed("Lambda does not get a changed function ready within five minutes: run `acta deploy`.")
    deployed.until_found(READY_SECONDS, look, late)


@contextmanager
def alias_of(
    deployed: Verified, function: FunctionName
) -> Iterator[Callable[[str, Mapping[str, float]], None]]:
    """Inside, the alias may be pointed to a version, and a part of the calls to others; at the end it names the version
    that it named before.
    """
    name, lambdas = function_name(deployed.name, function), deployed.aws("lambda")
    before = lambdas.call("get_alias", FunctionName=name, Name=ALIAS)["FunctionVersion"]
    undo = (
        f"aws lambda update-alias --function-name {name} --name {ALIAS} --function-version {before} "
        "--routing-config '{\"AdditionalVersionWeights\": {}}'"
    )

    def point_to(version: str, weights: Mapping[str, float]) -> None:
        lambdas.call(
            "update_alias",
            FunctionName=name,
            Name=ALIAS,
            FunctionVersion=version,
            RoutingConfig={"AdditionalVersionWeights": weights},
        )

    with put_back(deployed, undo, lambda: point_to(before, {})):
        yield point_to
