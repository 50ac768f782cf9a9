"""Python Lambdas as AWS runs them: errors by name, a process each, a clean environment, limits."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from acta.local_aws.emulator_process import EmulatorProcess
from acta.local_aws.testing import PROBE, ROLE, Cloud, refusal, zipped


def test_a_raised_exception_names_its_class(cloud: Cloud) -> None:
    reply = cloud.invoke(cloud.probe, do="raise", text="not today")
    assert reply.failed
    assert (reply.value["errorType"], reply.value["errorMessage"]) == ("Refused", "not today")
    assert reply.value["stackTrace"]


def test_a_module_that_cannot_be_imported_fails_the_invocation(cloud: Cloud) -> None:
    reply = cloud.invoke(cloud.deploy("import nowhere"))
    assert reply.value["errorType"] == "Runtime.ImportModuleError"


def test_a_process_that_dies_gives_exit_error_and_the_next_invocation_a_new_process(cloud: Cloud) -> None:
    before = cloud.invoke(cloud.probe).value["pid"]
    killed, exited = cloud.invoke(cloud.probe, do="kill"), cloud.invoke(cloud.probe, do="exit", code=3)
    assert killed.value["errorType"] == exited.value["errorType"] == "Runtime.ExitError"
    assert killed.value["errorMessage"].endswith("Runtime exited with error: signal: killed")
    assert exited.value["errorMessage"].endswith("Runtime exited with error: exit status 3")
    assert cloud.invoke(cloud.probe).value["pid"] != before


def test_the_functions_timeout_kills_the_process(cloud: Cloud) -> None:
    function = cloud.deploy(PROBE, timeout=1)
    before = cloud.invoke(function).value["pid"]
    reply = cloud.invoke(function, do="sleep", seconds=600)
    assert reply.value["errorType"] == "Sandbox.Timedout"
    assert reply.value["errorMessage"].endswith("Task timed out after 1.00 seconds")
    assert cloud.invoke(function).value["pid"] != before


def test_what_is_reserved_for_a_function_holds_for_its_versions_too(cloud: Cloud) -> None:
    function = cloud.deploy(PROBE)
    version = cloud.functions.publish_version(FunctionName=function)["Version"]
    cloud.functions.put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=0)
    for qualifier in ("$LATEST", version):
        with pytest.raises(cloud.functions.exceptions.TooManyRequestsException):
            cloud.functions.invoke(FunctionName=function, Qualifier=qualifier)
    cloud.functions.delete_function_concurrency(FunctionName=function)
    assert cloud.functions.invoke(FunctionName=function, Qualifier=version)["StatusCode"] == 200


KEEPING = """
import os, tempfile

KEPT = []
FILE = os.path.join(tempfile.gettempdir(), "kept")

def handler(event, context):
    found = [list(KEPT), os.path.exists(FILE), context.tenant_id]
    KEPT.append(event["word"])
    open(FILE, "w").close()
    return found
"""
PER_TENANT = {"TenantIsolationMode": "PER_TENANT"}


def for_tenant(cloud: Cloud, function: str, tenant: str, word: str, version: str = "$LATEST") -> Any:
    answer = cloud.functions.invoke(
        FunctionName=function, Qualifier=version, TenantId=tenant, Payload=json.dumps({"word": word})
    )
    return json.loads(answer["Payload"].read())


def test_a_process_of_a_function_with_tenant_isolation_serves_one_tenant(cloud: Cloud) -> None:
    function = cloud.deploy(KEEPING, TenancyConfig=PER_TENANT)

    assert for_tenant(cloud, function, "blue", "b1") == [[], False, "blue"]
    assert for_tenant(cloud, function, "green", "g1") == [[], False, "green"]
    assert for_tenant(cloud, function, "blue", "b2") == [["b1"], True, "blue"]
    assert for_tenant(cloud, function, "green", "g2") == [["g1"], True, "green"]

    version = cloud.functions.publish_version(FunctionName=function)["Version"]
    assert for_tenant(cloud, function, "blue", "b3", version) == [[], False, "blue"]


def test_a_tenant_is_named_where_there_is_isolation_and_nowhere_else(cloud: Cloud) -> None:
    isolated = cloud.deploy(KEEPING, TenancyConfig=PER_TENANT)
    shared = cloud.deploy(KEEPING)

    for refused in ({"FunctionName": isolated}, {"FunctionName": shared, "TenantId": "blue"}):
        code = refusal(cloud.functions.invoke, **refused, Payload=json.dumps({"word": "x"}))
        assert code == "InvalidParameterValueException"
    assert cloud.invoke(shared, word="s1").value == [[], False, None]
    assert cloud.functions.get_function_configuration(FunctionName=isolated)["TenancyConfig"] == PER_TENANT


def test_a_function_of_a_stack_has_the_tenant_isolation_of_its_template(cloud: Cloud) -> None:
    formation = cloud.client("cloudformation")
    properties = {
        "FunctionName": "isolated-by-template",
        "Runtime": "python3.11",
        "Role": ROLE,
        "Handler": "index.handler",
        "Code": {"ZipFile": KEEPING},
        "TenancyConfig": PER_TENANT,
    }
    function = {"Type": "AWS::Lambda::Function", "Properties": properties}
    formation.create_stack(StackName="isolated", TemplateBody=json.dumps({"Resources": {"One": function}}))
    formation.get_waiter("stack_create_complete").wait(
        StackName="isolated", WaiterConfig={"Delay": 1, "MaxAttempts": 60}
    )

    assert for_tenant(cloud, "isolated-by-template", "blue", "b1") == [[], False, "blue"]
    assert for_tenant(cloud, "isolated-by-template", "green", "g1") == [[], False, "green"]


def test_the_environment_holds_nothing_of_the_emulator(cloud: Cloud, emulator: EmulatorProcess) -> None:
    function = cloud.deploy(PROBE, Environment={"Variables": {"CONFIGURED": "yes"}})
    found = cloud.invoke(function, do="environment").value
    unexpected = {name for name in found if not name.startswith(("AWS_", "LAMBDA_"))}
    # LC_CTYPE is set by the interpreter itself
    assert unexpected - {"LC_CTYPE"} == {
        "PATH",
        "LANG",
        "TZ",
        "TMPDIR",
        "_HANDLER",
        "CONFIGURED",
        "OFFERED",
    }
    assert (found["CONFIGURED"], found["OFFERED"]) == ("yes", "offered")
    assert found["AWS_ENDPOINT_URL"] == emulator.url
    assert found["AWS_LAMBDA_FUNCTION_NAME"] == function


def test_the_functions_own_packages_come_before_the_runtimes(cloud: Cloud) -> None:
    source = """
import importlib.util, six, sys

def handler(event, context):
    return [six.__version__, importlib.util.find_spec("boto3").origin, sys.path]
"""
    shadowed, from_runtime, path = cloud.invoke(
        cloud.deploy(source, files={"six.py": "__version__ = 'mine'"})
    ).value
    assert shadowed == "mine"
    assert "site-packages" in from_runtime
    assert not any("infra" in entry or "ministack" in entry for entry in path)


def test_the_emulators_packages_are_not_importable(cloud: Cloud) -> None:
    assert cloud.invoke(cloud.deploy("import ministack")).value["errorType"] == "Runtime.ImportModuleError"


def test_idle_processes_are_reused_and_busy_ones_are_not_shared(cloud: Cloud) -> None:
    function = cloud.deploy(PROBE)
    first = cloud.invoke(function).value["pid"]
    assert cloud.invoke(function).value["pid"] == first
    with ThreadPoolExecutor(2) as threads:
        slow = [threads.submit(cloud.invoke, function, do="sleep", seconds=0.5) for _ in range(2)]
        assert len({future.result().value["pid"] for future in slow}) == 2


def test_a_burst_of_cold_starts_queues_and_does_not_count_against_the_timeout(cloud: Cloud) -> None:
    function = cloud.deploy("import time\ntime.sleep(0.3)\n" + PROBE, timeout=1)
    with ThreadPoolExecutor(16) as threads:
        replies = list(threads.map(lambda _: cloud.invoke(function, do="sleep", seconds=0.2), range(16)))
    assert not any(reply.failed for reply in replies)


def test_new_code_and_configuration_serve_the_next_invocation(cloud: Cloud) -> None:
    function = cloud.deploy("def handler(event, context): return 'old'")
    assert cloud.invoke(function).value == "old"
    source = "import os\ndef handler(event, context): return ['new', os.environ.get('MODE')]"
    cloud.functions.update_function_code(FunctionName=function, ZipFile=zipped({"main.py": source}))
    assert cloud.invoke(function).value == ["new", None]
    cloud.functions.update_function_configuration(
        FunctionName=function, Environment={"Variables": {"MODE": "b"}}
    )
    assert cloud.invoke(function).value == ["new", "b"]


def test_an_answer_with_half_a_surrogate_pair_is_what_the_runtime_makes_of_it(cloud: Cloud) -> None:
    """AWS's runtime client writes ASCII escapes up to Python 3.11. From 3.12 on it writes UTF-8, which it cannot, and
    its process ends."""
    function = cloud.deploy(PROBE)
    assert cloud.invoke(function, text="caf\udce9.txt").value["event"]["text"] == "caf\udce9.txt"
    cloud.functions.update_function_configuration(FunctionName=function, Runtime="python3.13")
    assert cloud.invoke(function, text="caf\udce9.txt").value["errorType"] == "Runtime.ExitError"
    assert cloud.invoke(function, text="café.txt").value["event"]["text"] == "café.txt"


def test_a_reply_over_six_megabytes_is_refused(cloud: Cloud) -> None:
    assert len(cloud.invoke(cloud.probe, do="large", bytes=6_000_000).value) == 6_000_000
    reply = cloud.invoke(cloud.probe, do="large", bytes=6_400_000)
    assert reply.value["errorType"] == "Function.ResponseSizeTooLarge"
    assert not cloud.invoke(cloud.probe).failed
