"""The emulator as a process: loopback only, state kept across an orderly end, nothing left after a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

import acta.local_aws
from acta.local_aws.credentials import FILE, Credentials
from acta.local_aws.emulator_process import NEVER, EmulatorFailed, EmulatorProcess, left_running
from acta.local_aws.loopback import HOST
from acta.local_aws.testing import (
    PROBE,
    ROLE,
    Cloud,
    awaiting,
    eventually,
    invoking,
    one_state,
    refusal,
    zipped,
)
from tests.local_aws.emulators import EMULATOR_PYTHON, ROOT, RUNTIME_PYTHON, emulator_on

linux_only = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads /proc")
LISTENING = "0A"
LOOPBACK = "0100007F"

TEMPLATE = {
    "Resources": {
        "Table": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": "kept",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            },
        },
        "Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "FunctionName": "kept",
                "Runtime": "python3.11",
                "Handler": "main.handler",
                "Role": ROLE,
                "Code": {"S3Bucket": "kept", "S3Key": "code.zip"},
            },
        },
        "Machine": {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {
                "StateMachineName": "kept",
                "RoleArn": ROLE,
                "DefinitionString": json.dumps(
                    {"QueryLanguage": "JSONata", **one_state({"Type": "Succeed"})}
                ),
            },
        },
        "Api": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "kept", "ProtocolType": "HTTP"}},
    }
}


@linux_only
def test_nothing_listens_outside_loopback(emulator: EmulatorProcess, cloud: Cloud) -> None:
    cloud.invoke(cloud.probe)  # so that the listener of a function is there too
    addresses = set(listening_addresses(emulator.pid))
    assert f"{LOOPBACK}:{emulator.port:04X}" in addresses
    assert {address.partition(":")[0] for address in addresses} == {LOOPBACK}


def test_an_interrupt_is_an_orderly_end(tmp_path: Path) -> None:
    with emulator_on(tmp_path) as process:
        Cloud.of(process).client("s3").create_bucket(Bucket="kept")
        os.kill(process.pid, signal.SIGINT)
        eventually(lambda: True if not process.running else None)
        assert process.stop() == 0
    assert "kept" in (tmp_path / "s3.json").read_text()


def test_nothing_that_it_keeps_is_readable_by_another_user(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with emulator_on(tmp_path) as process:
        s3 = Cloud.of(process).client("s3")
        s3.create_bucket(Bucket="kept")
        s3.put_object(Bucket="kept", Key="a.txt", Body=b"a")
        assert process.stop() == 0
    kept = [tmp_path, *tmp_path.rglob("*")]
    assert {"s3.json", "a.txt"} <= {path.name for path in kept}
    assert [path for path in kept if path.stat().st_mode & 0o077] == []


def test_state_survives_an_orderly_end(tmp_path: Path) -> None:
    with emulator_on(tmp_path) as process:
        cloud = Cloud.of(process)
        s3, table = cloud.client("s3"), cloud.client("dynamodb")
        s3.create_bucket(Bucket="kept")
        s3.put_object(Bucket="kept", Key="code.zip", Body=zipped({"main.py": PROBE}))
        s3.put_object(
            Bucket="kept", Key="a/b.txt", Body=b"bytes \xff", ContentType="text/x", Metadata={"m": "1"}
        )
        formation = cloud.client("cloudformation")
        formation.create_stack(StackName="kept", TemplateBody=json.dumps(TEMPLATE))
        formation.get_waiter("stack_create_complete").wait(StackName="kept", WaiterConfig={"Delay": 1})
        table.put_item(TableName="kept", Item={"pk": {"S": "one"}, "data": {"B": b"\x00\xff"}})
        execution = cloud.start(one_state(awaiting("kept")))
        cloud.submitted_token(execution)
        assert process.stop() == 0

    assert not list(tmp_path.glob("scratch*"))
    with emulator_on(tmp_path) as process:
        cloud = Cloud.of(process)
        found = cloud.client("s3").get_object(Bucket="kept", Key="a/b.txt")
        assert (found["Body"].read(), found["ContentType"], found["Metadata"]) == (
            b"bytes \xff",
            "text/x",
            {"m": "1"},
        )
        item = cloud.client("dynamodb").get_item(
            TableName="kept", Key={"pk": {"S": "one"}}, ConsistentRead=True
        )
        assert item["Item"]["data"]["B"] == b"\x00\xff"
        assert not cloud.invoke("kept").failed
        machines = cloud.states.list_state_machines()["stateMachines"]
        arn = next(machine["stateMachineArn"] for machine in machines if machine["name"] == "kept")
        started = cloud.states.start_execution(stateMachineArn=arn)
        assert cloud.finished(started["executionArn"])["status"] == "SUCCEEDED"
        assert [api["Name"] for api in cloud.client("apigatewayv2").get_apis()["Items"]] == ["kept"]
        # An execution cannot go on after a restart; sessions are resumed from their own records.
        assert cloud.finished(execution)["error"] == "States.ServiceRestart"
        formation = cloud.client("cloudformation")
        unchanged = {"StackName": "kept", "TemplateBody": json.dumps(TEMPLATE)}
        assert refusal(formation.update_stack, **unchanged) == "ValidationError"


def test_after_a_kill_the_next_start_knows_when_its_state_was_saved(tmp_path: Path) -> None:
    with emulator_on(tmp_path) as first:
        assert first.restored_from is None
        Cloud.of(first).client("s3").create_bucket(Bucket="kept")
    process = emulator_on(tmp_path)
    saved = process.last_saved
    process.start()
    Cloud.of(process).client("sqs").create_queue(QueueName="lost")
    process.kill()
    assert process.last_saved == saved != NEVER
    with emulator_on(tmp_path) as again:
        assert again.restored_from == saved
        assert Cloud.of(again).client("sqs").list_queues().get("QueueUrls", []) == []
    with emulator_on(tmp_path) as in_order:
        assert in_order.restored_from is None


def test_a_kill_before_anything_was_saved_is_recognised_and_leaves_no_objects_in_the_way(
    tmp_path: Path,
) -> None:
    process = emulator_on(tmp_path)
    process.start()
    s3 = Cloud.of(process).client("s3")
    s3.create_bucket(Bucket="assets")
    s3.put_object(Bucket="assets", Key="a.txt", Body=b"a")
    process.kill()
    with emulator_on(tmp_path) as again:
        assert again.restored_from == NEVER
        assert Cloud.of(again).client("s3").list_buckets()["Buckets"] == []
    assert [path.read_bytes() for path in (tmp_path / "s3-unsaved").rglob("a.txt")] == [b"a"]


@linux_only
def test_no_function_outlives_a_killed_emulator(tmp_path: Path) -> None:
    process = emulator_on(tmp_path)
    process.start()
    cloud = Cloud.of(process)
    children = [cloud.invoke(cloud.probe).value["pid"]]
    process.kill()
    eventually(lambda: True if not any(alive(pid) for pid in children) else None)


@linux_only
def test_no_function_outlives_an_orderly_end(tmp_path: Path) -> None:
    with emulator_on(tmp_path) as process:
        cloud = Cloud.of(process)
        child = cloud.invoke(cloud.probe).value["pid"]
    eventually(lambda: True if not alive(child) else None)


def test_what_a_stop_removes_does_not_grow_with_the_functions_whose_code_the_next_run_finds(
    tmp_path: Path,
) -> None:
    state_dir, code_dir = tmp_path / "state", tmp_path / "code"

    def task_root(process: EmulatorProcess, function: str) -> Path:
        return Path(Cloud.of(process).invoke(function, do="environment").value["LAMBDA_TASK_ROOT"])

    with emulator_on(state_dir, code_dir=code_dir) as process:
        function = Cloud.of(process).deploy(PROBE, files={f"module_{n}.py": "" for n in range(300)})
        before = task_root(process, function)
        (scratch,) = state_dir.glob("scratch-*")
        assert sum(1 for _ in scratch.rglob("*")) < 50
    unpacked = (before / "main.py").stat()
    with emulator_on(state_dir, code_dir=code_dir) as process:
        assert task_root(process, function) == before
        assert (before / "main.py").stat().st_ino == unpacked.st_ino


ENDLESS = """
import pathlib, time

def handler(event, context):
    pathlib.Path(event["began"]).touch()
    time.sleep(600)
"""


def test_a_stop_ends_what_is_open_and_needs_no_kill(tmp_path: Path) -> None:
    began = [tmp_path / "invoked", tmp_path / "invoked by a machine"]
    with emulator_on(tmp_path) as process, ThreadPoolExecutor(2) as threads:
        cloud = Cloud.of(process)
        queues, endless = cloud.client("sqs"), cloud.deploy(ENDLESS, timeout=600)
        queue = queues.create_queue(QueueName="empty")["QueueUrl"]
        cloud.start(one_state({"Type": "Wait", "Seconds": 600}))
        cloud.submitted_token(cloud.start(one_state(awaiting(cloud.probe))))
        cloud.start(one_state(invoking(endless, {"began": str(began[1])})))
        open_requests = [
            threads.submit(queues.receive_message, QueueUrl=queue, WaitTimeSeconds=20),
            threads.submit(cloud.invoke, endless, began=str(began[0])),
        ]
        eventually(lambda: True if all(each.exists() for each in began) else None)
        assert process.stop() == 0
        wait(open_requests)
    assert left_running(tmp_path) is None


STARTER = """
import sys
from pathlib import Path
from tests.local_aws.emulators import emulator_on
process = emulator_on(Path(sys.argv[1]))
process.start()
print(process.pid, process.url, flush=True)
sys.stdin.read()
"""


@linux_only
def test_an_emulator_whose_starter_was_killed_saves_its_state_and_ends(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as starter:
        assert starter.stdout is not None
        pid, url = starter.stdout.readline().split()
        credentials = Credentials.from_file(tmp_path / FILE)
        Cloud(url, credentials).client("s3").create_bucket(Bucket="kept")
        assert left_running(tmp_path) is not None
        starter.kill()
        starter.wait()
    eventually(lambda: True if not alive(int(pid)) else None)
    assert left_running(tmp_path) is None
    with emulator_on(tmp_path) as process:
        assert [one["Name"] for one in Cloud.of(process).client("s3").list_buckets()["Buckets"]] == ["kept"]


ALONE = """
import sys
from pathlib import Path
from acta.local_aws.emulator_process import EmulatorProcess
pythons = {"emulator_python": Path(sys.argv[1]), "runtime_python": Path(sys.argv[2])}
with EmulatorProcess(state_dir=Path("state"), **pythons) as aws:
    print(aws.running, aws.credentials.access_key_id[:4])
"""


def test_it_runs_with_nothing_beside_it_but_its_requirements(tmp_path: Path) -> None:
    """Copied out of Acta, started by an interpreter that has nothing of its user's, by relative paths."""
    alone = tmp_path / "elsewhere" / "acta" / "local_aws"
    shutil.copytree(Path(acta.local_aws.__file__).parent, alone)
    alone.with_name("__init__.py").touch()
    (tmp_path / "elsewhere" / "ministack.py").write_text("raise SystemExit('of another application')")
    relative = [os.path.relpath(python, tmp_path) for python in (EMULATOR_PYTHON, RUNTIME_PYTHON)]
    ended = subprocess.run(
        [str(EMULATOR_PYTHON), "-c", ALONE, *relative],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "elsewhere"), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout.split()) == (0, ["True", "AKIA"]), ended.stderr


def test_a_second_emulator_on_the_same_state_is_refused_with_what_to_end(emulator: EmulatorProcess) -> None:
    with pytest.raises(EmulatorFailed, match=f"end it with `kill {emulator.pid}`"):
        emulator_on(emulator.state_dir).start()


def test_another_release_of_ministack_is_refused_in_one_line(tmp_path: Path) -> None:
    information = tmp_path / "ministack-9.9.9.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: ministack\nVersion: 9.9.9\n")
    arguments = ["--port", "1", "--state", str(tmp_path / "state"), "--runtime-python", str(RUNTIME_PYTHON)]
    ended = subprocess.run(
        [str(EMULATOR_PYTHON), "-m", "acta.local_aws", *arguments],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "local_aws: the local AWS needs ministack 1.5.33, found 9.9.9: install its requirements.txt"
    ]


def test_the_lambdas_can_be_given_another_endpoint(tmp_path: Path) -> None:
    elsewhere = f"http://{HOST}:9"
    process = EmulatorProcess(
        state_dir=tmp_path,
        emulator_python=EMULATOR_PYTHON,
        runtime_python=RUNTIME_PYTHON,
        lambda_endpoint=elsewhere,
    )
    with process:
        cloud = Cloud.of(process)
        assert cloud.invoke(cloud.probe, do="environment").value["AWS_ENDPOINT_URL"] == elsewhere


def listening_addresses(pid: int) -> Iterator[str]:
    """`hexaddress:hexport` of every TCP socket the process listens on."""
    descriptors = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink()]
    inodes = {
        target.removeprefix("socket:[").rstrip("]") for target in descriptors if target.startswith("socket:")
    }
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and fields[9] in inodes:
                yield fields[1]


def alive(pid: int) -> bool:
    """A zombie counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
