"""Checks that only read, with the operator's AWS credentials: what AWS made of the templates, and what it counted."""

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from acta.cli.operations.verify.checks import CheckFailed, CheckUnanswered, Figures, Verified, sum_of
from acta.engine.aws.tenant_credentials import session_policy
from acta.engine.bound_tenant import tenant_hash
from acta.engine.recovery.store import ROUNDS
from acta.engine.store.keys import FILES, tenant_pk, tenant_prefix
from acta.engine.usage.aws_prices import UNITS_PER_USD, prices_in
from acta.infra.costs import RECOVERY
from acta.infra.deployed.posture import DeployedPosture
from acta.infra.deployed.preflight import FEW_EXECUTIONS, Concurrency
from acta.infra.deployed.releases import NotPossible, ReleaseHistory, look
from acta.infra.deployed.session_logs import LogLine, LogsUnreadable, logs_client, read_lines
from acta.infra.deployed.stacks import described, names_of
from acta.infra.names import (
    LIVE_INDEX,
    OPEN_INDEX,
    edge_stack,
    function_name,
    metrics_namespace,
    own_tool_function,
)
from acta.infra.sizing import CALLED_BY_EVENTS

COMPLETE = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
DAY = timedelta(days=1)
LOOKED_AT_FIRST = "RecoveryStopped"
"""How the names of alarms end that take missing data for trouble."""
TENANT, OTHER_TENANT = "acta-verify-a", "acta-verify-b"
"""Made-up tenants, for questions to IAM's simulator. Nothing of them is stored."""


def stacks_never_failed(deployed: Verified) -> Figures:
    events = 0
    in_this_region = [each for each in names_of(deployed.environment) if each != edge_stack(deployed.name)]
    for stack in in_this_region:
        found = described(stack, deployed.account.client("cloudformation"))
        if found is not None and found["StackStatus"].endswith("_IN_PROGRESS"):
            raise CheckUnanswered(
                "A stack is being changed just now: run this command again when that is over."
            )
        if found is None or found["StackStatus"] not in COMPLETE:
            raise CheckFailed(
                "A stack is missing, or its last change did not end well. Run `acta deploy`, and send us the first "
                "event of the stack that failed.",
                status=found["StackStatus"] if found is not None else "missing",
            )
        for event in deployed.all("cloudformation", "describe_stack_events", "StackEvents", StackName=stack):
            events += 1
            if event["ResourceStatus"].endswith("_FAILED"):
                raise CheckFailed(
                    "CloudFormation reported within 90 days that a resource could not be created, changed or deleted. "
                    "If that was no mistake in your entry of the environment, send us the event's reason.",
                    type=event.get("ResourceType", "none"),
                    status=event["ResourceStatus"],
                )
    return {"events": events}


def deployed_with_narrow_rights(deployed: Verified) -> Figures:
    """The role of `cdk bootstrap` with which CloudFormation works has the policies of `acta deploy --policies`."""
    who = deployed.aws("sts").call("get_caller_identity")
    region = deployed.outputs["StateMachineArn"].split(":")[3]
    role = f"cdk-{deployed.environment.bootstrap_qualifier}-cfn-exec-role-{who['Account']}-{region}"
    attached = deployed.all("iam", "list_attached_role_policies", "AttachedPolicies", "Marker", RoleName=role)
    names = [each["PolicyName"] for each in attached]
    narrow = [each for each in names if each.startswith(f"acta-{deployed.name}-execution-")]
    if len(narrow) != len(names) or not narrow:
        raise CheckUnanswered(
            "CloudFormation has wider rights than Acta's narrow policies give it. To answer this, follow `Who may "
            "deploy` in docs/deploy.md, deploy a change, and run this command again.",
            policies=len(names),
        )
    return {"policies": len(narrow)}


def account_has_concurrency(deployed: Verified) -> Figures:
    found = Concurrency.of(deployed.environment, deployed.aws("lambda"))
    if not found.fits:
        raise CheckFailed(
            "The environment reserves more concurrent executions than the account has left: `acta deploy` says by how "
            "many."
        )
    if found.quota < FEW_EXECUTIONS:
        raise CheckFailed(
            "The account has so few concurrent executions that sessions and watchers get into each other's way. Ask "
            "for more in Service Quotas (AWS Lambda, Concurrent executions).",
            executions=found.quota,
        )
    return {"executions": found.quota}


def posture_holds(deployed: Verified) -> Figures:
    points = DeployedPosture(deployed.environment, deployed.account, deployed.outputs).points()
    for state, error, said in (
        (
            "differs",
            CheckFailed,
            "The deployment is less careful, or otherwise, than its entry: see `acta posture`.",
        ),
        ("not seen", CheckUnanswered, "A point of the posture cannot be seen: see `acta posture`."),
    ):
        wrong = [each.option for each in points if each.state == state]
        if wrong:
            raise error(said, points=len(wrong), first=wrong[0])
    return {"points": len(points)}


def aliases_name_one_release(deployed: Verified) -> Figures:
    history = releases_of(deployed)
    if history.shifting:
        raise CheckUnanswered("A release is being taken into use: run this command again when that is over.")
    if not any(history.is_live(each) for each in history.releases):
        raise CheckFailed(
            "Aliases name functions of several releases: `acta releases` lists them; deploy again."
        )
    return {"releases": len(history.releases), "functions": len(history.live)}


def releases_of(deployed: Verified) -> ReleaseHistory:
    try:
        return look(deployed.name, deployed.account.client("lambda"))
    except NotPossible:
        raise CheckFailed("The functions or their aliases are missing: run `acta deploy`.") from None


def functions_are_ready(deployed: Verified) -> Figures:
    """State, architecture and, where the environment asks for it, SnapStart of each function."""
    environment = deployed.environment
    for name in environment.functions:
        found = deployed.configuration(name)
        seen = {
            "state": found.get("State"),
            "update": found.get("LastUpdateStatus"),
            "architecture": found.get("Architectures", ["x86_64"])[0],
        }
        wanted = {"state": "Active", "update": "Successful", "architecture": environment.architecture}
        if environment.snap_start and name not in CALLED_BY_EVENTS:
            seen["snap_start"], wanted["snap_start"] = (
                found.get("SnapStart", {}).get("OptimizationStatus"),
                "On",
            )
        if seen != wanted:
            raise CheckFailed(
                "A function is not as it was deployed, or Lambda cannot start it: look at it in the console.",
                function=name,
                **seen,
            )
    return {"functions": len(environment.functions)}


def tools_serve_one_tenant(deployed: Verified) -> Figures:
    folders = deployed.environment.tool_folders
    if not folders or deployed.environment.tool_processes == "shared":
        raise CheckUnanswered("This environment has no Python tools, or lets tenants share their processes.")
    for folder in folders:
        name = own_tool_function(deployed.name, folder.name)
        found = deployed.aws("lambda").call("get_function_configuration", FunctionName=name)
        if found.get("TenancyConfig", {}).get("TenantIsolationMode") != "PER_TENANT":
            raise CheckFailed("A process of a Python tool may serve several tenants: run `acta deploy`.")
    return {"folders": len(folders)}


def logs_end(deployed: Verified) -> Figures:
    days = deployed.environment.retention.logs
    wanted = {f"/aws/lambda/{function_name(deployed.name, each)}" for each in deployed.environment.functions}
    listed = deployed.all(
        "logs",
        "describe_log_groups",
        "logGroups",
        "nextToken",
        logGroupNamePrefix=f"/aws/lambda/acta-{deployed.name}-",
    )
    kept = {
        each["logGroupName"]: each.get("retentionInDays") for each in listed if each["logGroupName"] in wanted
    }
    wrong = sum(each != days for each in kept.values())
    if wrong or len(kept) < len(wanted):
        raise CheckFailed(
            "A log is missing, or is not kept for as long as the environment says: run `acta deploy`.",
            missing=len(wanted) - len(kept),
            wrong=wrong,
            wanted_days=days,
        )
    return {"logs": len(kept), "days": days}


def definition_is_valid(deployed: Verified) -> Figures:
    states = deployed.aws("stepfunctions")
    found = states.call("describe_state_machine", stateMachineArn=deployed.outputs["StateMachineArn"])
    checked = states.call(
        "validate_state_machine_definition",
        definition=found["definition"],
        type="STANDARD",
        severity="WARNING",
    )
    diagnostics = checked.get("diagnostics", ())
    figures: dict[str, float | str] = {
        "diagnostics": len(diagnostics),
        "first": diagnostics[0]["code"] if diagnostics else "none",
    }
    if checked["result"] != "OK":
        raise CheckFailed("Step Functions finds errors in the state machine: send us this report.", **figures)
    return figures


def policies_are_valid(deployed: Verified) -> Figures:
    """IAM's own check of the policies of every function's role, and of the one that narrows a role to a tenant."""
    documents = [each for role in roles_of(deployed) for each in policies_of(deployed, role)]
    documents.append(narrowed(deployed, TENANT))
    findings = [
        finding
        for each in documents
        for finding in deployed.all(
            "accessanalyzer",
            "validate_policy",
            "findings",
            "nextToken",
            policyDocument=each,
            policyType="IDENTITY_POLICY",
        )
    ]
    errors = [each for each in findings if each["findingType"] == "ERROR"]
    if errors:
        raise CheckFailed(
            "IAM finds an error in a policy of a role: send us this report.",
            errors=len(errors),
            first=errors[0]["issueCode"],
        )
    return {"policies": len(documents), "other_findings": len(findings)}


def tenants_are_apart(deployed: Verified) -> Figures:
    """What IAM says of one tenant's role and another tenant's data. The simulator takes no session policy, and takes a
    boundary, which narrows a role in the same way: both have to allow a request.
    """
    role = tenant_role(deployed)
    partition, account = role.split(":")[1], role.split(":")[4]
    region = deployed.outputs["StateMachineArn"].split(":")[3]
    table = f"arn:{partition}:dynamodb:{region}:{account}:table/{deployed.outputs['TableName']}"
    bucket = f"arn:{partition}:s3:::{deployed.outputs['BucketName']}"
    asked = 0
    for tenant, decision in ((TENANT, "allowed"), (OTHER_TENANT, "implicitDeny")):
        keys = {"ContextKeyName": "dynamodb:LeadingKeys", "ContextKeyType": "stringList"}
        for action, resource, context in (
            ("dynamodb:GetItem", table, [{**keys, "ContextKeyValues": [tenant_pk(tenant)]}]),
            ("dynamodb:PutItem", table, [{**keys, "ContextKeyValues": [tenant_pk(tenant)]}]),
            ("s3:GetObject", f"{bucket}/{tenant_prefix(FILES, tenant)}a.txt", []),
        ):
            asked += 1
            (found,) = deployed.aws("iam").call(
                "simulate_custom_policy",
                PolicyInputList=policies_of(deployed, role),
                PermissionsBoundaryPolicyInputList=[narrowed(deployed, TENANT)],
                ActionNames=[action],
                ResourceArns=[resource],
                ContextEntries=context,
            )["EvaluationResults"]
            if found["EvalDecision"] != decision:
                raise CheckFailed(
                    "IAM would let one tenant's request reach another tenant's data, or would refuse a tenant its own: "
                    "stop new sessions and send us this report.",
                    action=action.replace(":", "."),
                    wanted=decision,
                    decision=found["EvalDecision"],
                )
    return {"questions": asked}


def tenant_role(deployed: Verified) -> str:
    """The ARN of the second role of `step`, which a session policy narrows to a tenant's data."""
    variables = deployed.configuration("step").get("Environment", {}).get("Variables", {})
    if "ACTA_TENANT_ROLE" not in variables:
        raise CheckUnanswered("The function step does not say which role it takes for a tenant's requests.")
    return str(variables["ACTA_TENANT_ROLE"])


def roles_of(deployed: Verified) -> list[str]:
    """The ARNs of the roles of all functions, each once, and of the tenants' role of `step`."""
    own = [deployed.configuration(each)["Role"] for each in deployed.environment.functions]
    return list(dict.fromkeys((*own, tenant_role(deployed))))


def policies_of(deployed: Verified, role_arn: str) -> list[str]:
    """The role's inline policies; Acta's roles have no others. botocore gives a document as it was before JSON."""
    role = role_arn.rpartition("/")[2]
    names = deployed.all("iam", "list_role_policies", "PolicyNames", "Marker", RoleName=role)
    found = [
        deployed.aws("iam").call("get_role_policy", RoleName=role, PolicyName=each)["PolicyDocument"]
        for each in names
    ]
    return [each if isinstance(each, str) else json.dumps(each) for each in found]


def narrowed(deployed: Verified, tenant: str) -> str:
    outputs = deployed.outputs
    partition = outputs["StateMachineArn"].split(":")[1]
    return session_policy(tenant, partition, outputs["BucketName"], outputs["SessionBucketName"])


def policies_fit_when_packed(deployed: Verified) -> Figures:
    """The sizes that STS has answered within a day. Of the tenant that has signed in here also how long its policy is,
    and how short DEFLATE makes it: AWS's own format is not known, and ADR 203 guesses by that.
    """
    logs = logged(deployed, deployed.environment.functions, "session policy packed", DAY)
    lines = [line for line in logs if "PackedPolicySize" in line.fields]
    sizes = [float(line.fields["PackedPolicySize"]) for line in lines]
    if not sizes:
        raise CheckUnanswered(
            "STS was asked for no tenant's credentials within a day: start a session, then try again."
        )
    figures = {"measured": len(sizes), "least_percent": min(sizes), "most_percent": max(sizes)}
    if deployed.client is not None:
        tenant = deployed.client.me()["tenant"]
        hashed, policy = (
            tenant_hash(tenant, deployed.outputs["TableName"]),
            narrowed(deployed, tenant).encode(),
        )
        own = [
            size for size, line in zip(sizes, lines, strict=True) if line.fields.get("tenant_hash") == hashed
        ]
        deflated = zlib.compressobj(9, wbits=-15)
        figures |= {
            "own_characters": len(policy),
            "own_deflated": len(deflated.compress(policy) + deflated.flush()),
            "own_percent": max(own, default=0.0),
        }
    if max(sizes) > 100:
        raise CheckFailed(
            "AWS refuses a tenant's policy for its packed size: shorten that tenant's name, or the names of the "
            "buckets (docs/operations.md, PackedPolicySize).",
            **figures,
        )
    return figures


def no_alarm_rings(deployed: Verified) -> Figures:
    alarms = alarms_of(deployed)
    ringing = [each for each in alarms if each["StateValue"] == "ALARM"]
    if ringing:
        raise CheckFailed(
            "Alarms are raised: docs/operations.md has a section for each.",
            alarms=len(ringing),
            first=kind_of(deployed, ringing[0]["AlarmName"]),
        )
    silent = sum(each["StateValue"] == "INSUFFICIENT_DATA" for each in alarms)
    return {"alarms": len(alarms), "without_data": silent}


def alarms_of(deployed: Verified) -> list[Mapping[str, Any]]:
    """Not those of an environment whose name only begins like this one's. Raises CheckUnanswered for none."""
    prefix = f"acta-{deployed.name}-"
    listed = deployed.all("cloudwatch", "describe_alarms", "MetricAlarms", AlarmNamePrefix=prefix)
    found = [each for each in listed if each["AlarmName"].removeprefix(prefix)[:1].isupper()]
    if not found:
        raise CheckUnanswered("This environment has no alarms.")
    return found


def kind_of(deployed: Verified, alarm: str) -> str:
    """The alarm's name without the environment's."""
    return alarm.removeprefix(f"acta-{deployed.name}-")


def no_alarm_rang_at_first(deployed: Verified) -> Figures:
    """Whether an alarm that takes missing data for trouble was raised in the first hour after it was created."""
    looked = 0
    for alarm in alarms_of(deployed):
        if not alarm["AlarmName"].endswith(LOOKED_AT_FIRST):
            continue
        history = [
            *deployed.all(
                "cloudwatch", "describe_alarm_history", "AlarmHistoryItems", AlarmName=alarm["AlarmName"]
            )
        ]
        created = [
            each["Timestamp"]
            for each in history
            if each["HistoryItemType"] == "ConfigurationUpdate"
            # AWS does not document the words
            and "created" in f"{each['HistorySummary']} {each.get('HistoryData', '')}"
        ]
        if not created:
            continue
        looked += 1
        first_hour = min(created) + timedelta(hours=1)
        if any(
            each["HistoryItemType"] == "StateUpdate"
            and each["Timestamp"] < first_hour
            and each["HistorySummary"].endswith("to ALARM")
            for each in history
        ):
            raise CheckFailed(
                "An alarm of recovery was raised in the first hour after its creation, when there was no data yet: "
                "send us this report."
            )
    if not looked:
        raise CheckUnanswered("The alarms are older than the history that CloudWatch keeps.")
    return {"alarms": looked}


def recovery_runs_each_minute(deployed: Verified) -> Figures:
    """That EventBridge calls `recover` each minute, and that CloudWatch reads metrics out of the log lines."""
    namespace = metrics_namespace(deployed.name)
    queries = [sum_of(each, namespace, "RecoveryRounds", round=each) for each in ROUNDS]
    found = deployed.metric(queries, timedelta(minutes=35))
    rounds: dict[str, float] = {each: sum(found.get(each, [])) for each in ROUNDS}
    if min(rounds.values()) < 20:
        raise CheckFailed(
            "A round of recovery has come to its end less than 20 times in 35 minutes: docs/operations.md, "
            "RecoveryStopped. If the deployment is younger than that, run this command later.",
            **rounds,
        )
    return rounds


def dashboard_shows_values(deployed: Verified) -> Figures:
    """The searches of the dashboard, which name the metrics' namespace with its hyphens."""
    if not deployed.environment.dashboard:
        raise CheckUnanswered("This environment has no dashboard.")
    page = deployed.aws("cloudwatch").call("get_dashboard", DashboardName=f"acta-{deployed.name}")
    widgets = json.loads(page["DashboardBody"])["widgets"]
    rows = [row for widget in widgets for row in widget.get("properties", {}).get("metrics", ())]
    searches = [
        cell["expression"]
        for row in rows
        for cell in row
        if isinstance(cell, dict) and "SEARCH(" in cell.get("expression", "")
    ]
    queries = [
        {"Id": f"search{number}", "Expression": each, "Period": 300} for number, each in enumerate(searches)
    ]
    found = deployed.metric(queries, DAY) if queries else {}
    if not any(found.values()):
        raise CheckUnanswered(
            "The dashboard's searches find nothing: run this command again an hour after a session."
        )
    return {"searches": len(searches), "with_values": sum(map(bool, found.values()))}


def functions_start_fast(deployed: Verified) -> Figures:
    """Lambda's own report of each cold start within a day: how long it took, and how much memory the process had."""
    lines = [*logged(deployed, deployed.environment.functions, "Init Duration", DAY)]
    starts: dict[str, list[float]] = {}
    memory: dict[str, float] = {}
    for line in lines:
        said = str(line.fields.get("message", ""))
        starts.setdefault(line.function, []).append(_figure(said, "Init Duration: "))
        memory[line.function] = max(memory.get(line.function, 0), _figure(said, "Max Memory Used: "))
    if not starts:
        raise CheckUnanswered("No function has started cold within a day.")
    every = [each for several in starts.values() for each in several]
    figures: dict[str, float | str] = {"cold_starts": len(every), "slowest_ms": max(every)}
    figures |= {f"{name}_ms": round(median(several)) for name, several in starts.items()}
    figures |= {f"{name}_mb": most for name, most in memory.items()}
    # Lambda's guide shows 9999.81 ms for a start that it stopped ("Lambda execution environment lifecycle")
    if max(every) > 9_900:
        raise CheckFailed(
            "A function needed more than the ten seconds that Lambda gives it to start: send us this report.",
            **figures,
        )
    return figures


def _figure(report: str, name: str) -> float:
    """The number behind a name in Lambda's report line: `Init Duration: 812.34 ms`. 0: it is not there."""
    return float((report.partition(name)[2].split() or ["0"])[0])


def logged(deployed: Verified, functions: Sequence[str], text: str, since: timedelta) -> list[LogLine]:
    """Raises CheckUnanswered where the logs cannot be read."""
    client = logs_client(deployed.account)
    try:
        return read_lines(client, deployed.name, functions, text, datetime.now(UTC) - since)
    except LogsUnreadable:
        raise CheckUnanswered("Your AWS credentials may not read the functions' logs.") from None


def rest_costs_little(deployed: Verified) -> Figures:
    """What the last hour has cost, at the list prices of us-east-1, of recovery alone and of everything in Lambda and
    DynamoDB. `docs/costs.md` says what a deployment costs at rest.
    """
    environment, prices, table = deployed.environment, prices_in("us-east-1"), deployed.outputs["TableName"]
    named: tuple[Mapping[str, str], ...] = (
        {},
        *({"GlobalSecondaryIndexName": each} for each in (LIVE_INDEX, OPEN_INDEX)),
    )
    units = {"Write": prices.write_unit or 0, "Read": prices.read_unit or 0}
    queries = [
        sum_of(f"{each}_{metric}", "AWS/Lambda", metric, FunctionName=function_name(deployed.name, each))
        for each in environment.functions
        for metric in ("Invocations", "Duration")
    ] + [
        sum_of(
            f"table_{kind}_{number}", "AWS/DynamoDB", f"Consumed{kind}CapacityUnits", TableName=table, **index
        )
        for kind in units
        for number, index in enumerate(named)
    ]
    found = {id: sum(values) for id, values in deployed.metric(queries, timedelta(hours=1)).items()}
    usd: dict[str, float] = {}
    for each in environment.functions:
        gb_seconds = found.get(f"{each}_Duration", 0) / 1_000 * environment.sizes[each].memory / 1_024
        spent = found.get(f"{each}_Invocations", 0) * (prices.invocation or 0)
        spent += gb_seconds * (prices.gb_second(environment.architecture) or 0)
        usd[each] = spent / UNITS_PER_USD
    usd["table"] = sum(
        found.get(f"table_{kind}_{number}", 0) * price / UNITS_PER_USD
        for kind, price in units.items()
        for number in range(len(named))
    )
    if not any(usd.values()):
        raise CheckUnanswered(
            "CloudWatch has no figures of the last hour yet: run this command again in an hour."
        )
    figures = {
        "usd_an_hour": round(sum(usd.values()), 6),
        "usd_recovery": round(usd["recover"], 6),
        "usd_table": round(usd["table"], 6),
    }
    if not usd["recover"]:
        raise CheckUnanswered(
            "CloudWatch has no calls of recovery in the last hour: see the check `rounds`.", **figures
        )
    if usd["recover"] > 3 * RECOVERY / 730:
        raise CheckFailed(
            "Recovery costs more than three times what docs/costs.md says: send us this report.", **figures
        )
    return figures


def tables_can_be_restored(deployed: Verified) -> Figures:
    if not deployed.environment.point_in_time_recovery:
        raise CheckUnanswered("This environment keeps no earlier states of its tables.")
    found = deployed.aws("dynamodb").call(
        "describe_continuous_backups", TableName=deployed.outputs["TableName"]
    )
    recovery = found["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
        raise CheckFailed("The table cannot be restored to an earlier time: run `acta deploy`.")
    return {"days": recovery.get("RecoveryPeriodInDays", 0)}


def spans_arrive(deployed: Verified) -> Figures:
    if not deployed.has("traces"):
        raise CheckUnanswered("This environment exports no traces.")
    lost, sent = (len(logged(deployed, ("traces",), text, DAY)) for text in ("spans ", "exported"))
    if lost:
        raise CheckFailed("Spans were lost or refused: the log of the function traces says why.", lines=lost)
    if not sent:
        raise CheckUnanswered(
            "No spans were sent within a day: start a session, then run this command again."
        )
    return {"batches": sent}


def access_log_is_written(deployed: Verified) -> Figures:
    """The checks before this one have called the API."""
    group = f"/aws/vendedlogs/apis/acta-{deployed.name}"
    since = round((datetime.now(UTC) - timedelta(hours=1)).timestamp() * 1_000)

    def look() -> int | None:
        found = deployed.all(
            "logs", "filter_log_events", "events", "nextToken", logGroupName=group, startTime=since
        )
        return sum(1 for _ in zip(found, range(1_000), strict=False)) or None

    late = CheckFailed(
        "The gateway has written nothing into its access log within five minutes: run `acta deploy`."
    )
    return {"lines": deployed.until_found(300, look, late)}
