"""What a Lambda does while its handler is imported: nothing that a snapshot would hold for all workers."""

import json
import os
import subprocess
from typing import get_args

import pytest

from acta.infra.environments import select
from acta.infra.packaging.bundle import ROOT, Bundler
from acta.infra.packaging.install import target_of
from acta.infra.sizing import FunctionName

FUNCTIONS: tuple[str, ...] = get_args(FunctionName)
VARIABLES = {
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "of-the-snapshot",
    "AWS_SECRET_ACCESS_KEY": "of-the-snapshot",
    "AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR",
    "POWERTOOLS_METRICS_NAMESPACE": "Acta",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
    "ACTA_ENV": "local",
    "ACTA_IS_LOCAL": "true",
    "ACTA_TABLE": "table",
    "ACTA_BUCKET": "bucket",
    "ACTA_AUDIT_TABLE": "audit",
    "ACTA_TENANT_ROLE": "arn:aws:iam::000000000000:role/tenant",
    "ACTA_STATE_MACHINE_ARN": "arn:aws:states:us-east-1:000000000000:stateMachine:acta-local",
}
WATCHED = """
import datetime, json, logging, os, random, sys, threading

# The standard library's own generator is seeded anew after a restore; its log remembers when it was imported.
ONCE = {
    ("posix", "urandom"), ("posix", "getrandom"), ("random", "seed"), ("random", "random"), ("random", "getrandbits"),
    ("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"),
    ("_uuid", "generate_time_safe"), ("_thread", "start_new_thread"),
}
seen = []

def watch(frame, event, called):
    if event == "c_call":
        of = getattr(called, "__self__", None)
        owner = getattr(called, "__module__", None) or (of if isinstance(of, type) else type(of)).__module__
        if (owner, called.__name__) in ONCE:
            seen.append(f"{called.__name__} in {frame.f_globals.get('__name__')}")

def audit(event, args):
    if event.startswith("socket.") or event in ("subprocess.Popen", "os.fork"):
        seen.append(event)

sys.path.insert(0, sys.argv[1])
sys.addaudithook(audit)
sys.setprofile(watch)
import importlib
EXTRA
importlib.import_module(f"acta.functions.{sys.argv[2]}.handler")
sys.setprofile(None)
clients = sorted({"botocore.session", "botocore.credentials", "urllib3", "httpx2", "ssl"} & set(sys.modules))
print(json.dumps([seen, clients]))
"""
RESTORED = """
import os, random, sys
sys.path.insert(0, sys.argv[1])
import acta.functions
import snapshot_restore_py
drawn = []
for _ in range(2):
    random.seed(1)
    for call, args, kwargs in snapshot_restore_py.get_after_restore():
        call(*args, **kwargs)
    drawn.append(random.random())
print(drawn[0] != drawn[1])
"""


def run(program: str, function: str, **variables: str) -> str:
    bundle = Bundler(target_of(select("local"))).build(function)
    done = subprocess.run(
        [ROOT / ".venv-runtime" / "bin" / "python", "-B", "-I", "-c", program, str(bundle), function],
        env={"PATH": os.environ["PATH"], **VARIABLES, "AWS_LAMBDA_FUNCTION_NAME": function, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_import_draws_no_random_number_reads_no_clock_and_connects_to_nothing(function: str) -> None:
    assert json.loads(run(WATCHED.replace("EXTRA", ""), function)) == [[], []]


@pytest.mark.parametrize(
    ("does", "seen"),
    [
        ("import uuid; uuid.uuid4()", "urandom in uuid"),
        ("import secrets; secrets.token_hex(8)", "urandom in random"),
        ("random.random()", "random in __main__"),
        ("import datetime; datetime.datetime.now()", "now in __main__"),
        ("import time; time.time()", "time in __main__"),
        ("import socket; socket.socket()", "socket.__new__"),
        ("import socket; socket.getaddrinfo('127.0.0.1', 1)", "socket.getaddrinfo"),
        ("threading.Thread(target=int).start()", "start_new_thread in threading"),
    ],
)
def test_the_watch_sees_what_an_import_must_not_do(does: str, seen: str) -> None:
    found, _ = json.loads(run(WATCHED.replace("EXTRA", does), "fallback"))
    assert seen in found


def test_workers_from_one_snapshot_draw_different_random_numbers() -> None:
    assert run(RESTORED, "fallback", AWS_LAMBDA_INITIALIZATION_TYPE="snap-start").strip() == "True"
    assert run(RESTORED, "fallback", AWS_LAMBDA_INITIALIZATION_TYPE="on-demand").strip() == "False"
