"""F1, a web page that a developer has open while the local stack runs reaches neither the local AWS nor a function.

Each rule by itself: `tests/local_aws/contracts/test_web_pages.py`.
"""

import base64
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from acta.local_aws.testing import PAGES, send
from tests.conftest import Deployed
from tests.doubles.http_sink import Sink
from tests.e2e.support.behind import Behind
from tests.e2e.support.browser import REBOUND, Browser, NoBrowser, browser
from tests.e2e.support.person import Person
from tests.e2e.support.site import Site

NAME = "of-a-page"
PAGE = Path(__file__).with_name("page.html")
CALLED = """
import os, urllib.request

def handler(event, context):
    urllib.request.urlopen(os.environ["CALLED"], b"{}", timeout=20)
"""
REFUSAL = b"The local AWS answers programs of this machine only."
SHOWN = ("read", "loaded", "opened")
"""How the outcome begins of an attempt that has shown a page something."""


class Local(NamedTuple):
    """What listens on this machine. `runtimes`: ports on which functions' processes get their events."""

    aws: int
    front: int
    runtimes: tuple[int, ...]


@pytest.fixture
def local(deployed: Deployed, ann: Person) -> Local:
    assert ann.get("/v1/sessions").status_code == 200  # so that a function has a process
    aws, front = (urlsplit(url).port or 0 for url in (deployed.aws_endpoint_url, deployed.url))
    return Local(aws, front, tuple(runtimes_of(deployed.aws_endpoint_url)))


def runtimes_of(aws_endpoint_url: str) -> Iterator[int]:
    """As a page finds them by trying all ports. Here the system tells, where it has `/proc`."""
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            told = dict(
                line.partition("=")[::2] for line in environ.read_bytes().decode(errors="replace").split("\0")
            )
        except OSError:
            continue  # another user's, or over
        address = told.get("AWS_LAMBDA_RUNTIME_API", "")
        if address and told.get("AWS_ENDPOINT_URL") == aws_endpoint_url:
            yield int(address.rpartition(":")[2])


@pytest.fixture
def runs(behind: Behind, sink: Sink) -> Iterator[str]:
    """A function of the developer's that says when it runs."""
    lambdas, name = behind.client("lambda"), f"{NAME}-to-run"
    lambdas.create_function(
        **of_a_function(behind), FunctionName=name, Code={"ZipFile": zipped()}, Timeout=30,
        Environment={"Variables": {"CALLED": sink.url("/runs")}},
    )  # fmt: skip
    yield name
    lambdas.delete_function(FunctionName=name)


def of_a_function(behind: Behind) -> dict[str, str]:
    """What any function needs; the role may do nothing."""
    found = behind.client("lambda").get_function_configuration(FunctionName="acta-local-fallback")
    return {"Runtime": found["Runtime"], "Role": found["Role"], "Handler": "main.handler"}


def zipped() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("main.py", CALLED)
    return data.getvalue()


def definition(behind: Behind) -> Mapping[str, Any]:
    """Of a function that a page would make."""
    code = {"ZipFile": base64.b64encode(zipped()).decode()}
    return {**of_a_function(behind), "FunctionName": NAME, "Code": code}


def made(behind: Behind) -> list[str]:
    """What there is in the account of all that the page tries to make."""
    queues = behind.client("sqs").list_queues(QueueNamePrefix=NAME).get("QueueUrls", [])
    functions = [
        each["FunctionName"]
        for page in behind.client("lambda").get_paginator("list_functions").paginate()
        for each in page["Functions"]
    ]
    users = [each["UserName"] for each in behind.client("iam").list_users()["Users"]]
    return [*queues, *(name for name in (*functions, *users) if name == NAME), *behind.objects_of(NAME)]


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_what_a_page_can_send_is_refused_whatever_it_says_of_itself(
    local: Local, behind: Behind, runs: str, sink: Sink, page: dict[str, str]
) -> None:
    """As bytes: also what today's browsers do not let a page send."""
    functions, before = "/2015-03-31/functions", len(sink.heard)
    for method, path, body in (
        ("POST", functions, json.dumps(definition(behind)).encode()),
        ("POST", f"{functions}/{runs}/invocations", b"{}"),
        ("POST", "/", f"Action=CreateQueue&QueueName={NAME}".encode()),
        ("GET", f"/?Action=CreateUser&UserName={NAME}", b""),
        ("PUT", f"/{behind.buckets[0]}/{NAME}.txt", b"x"),
        ("GET", f"/{behind.buckets[0]}?list-type=2", b""),
    ):
        answer = send(local.aws, method, path, page, body)
        assert answer.status == 403
        assert REFUSAL in answer.body
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    for port in local.runtimes:
        for method, path in (
            ("GET", "/2018-06-01/runtime/invocation/next"),
            ("POST", "/2018-06-01/runtime/init/error"),
        ):
            answer = send(port, method, path, page, b"{}" if method == "POST" else b"")
            assert (answer.status, answer.body) == (403, b"")
    assert send(local.front, "GET", "/v1/sessions", page).status in (401, 403)
    assert (made(behind), len(sink.heard)) == ([], before)


@pytest.fixture(scope="module")
def chromium() -> Browser:
    try:
        return browser()
    except NoBrowser as why:
        pytest.skip(str(why))


@pytest.mark.thorough
def test_a_page_in_a_real_browser_makes_nothing_runs_nothing_and_reads_nothing(
    chromium: Browser, local: Local, behind: Behind, runs: str, sink: Sink, ann: Person, tmp_path: Path
) -> None:
    """The page is of another port, then of another name of this machine, then of a name that was rebound to it."""
    common = {"made": definition(behind), "bucket": behind.buckets[0]}
    with Site() as everybody:
        targets: list[dict[str, Any]] = [
            {"name": "everybody", "kind": "aws", "base": everybody.url(), **common},
            *(
                {"name": f"aws at {host}", "kind": "aws", "base": f"http://{host}:{local.aws}", **common}
                for host in ("127.0.0.1", "localhost", REBOUND)
            ),
            *(
                {"name": f"runtime at {port}", "kind": "runtime", "base": f"http://127.0.0.1:{port}"}
                for port in local.runtimes
            ),
            {"name": "front", "kind": "api", "base": f"http://127.0.0.1:{local.front}"},
        ]
        text = PAGE.read_text(encoding="utf-8").replace("/*TARGETS*/ []", json.dumps(targets))
        with Site({"/": text}) as site:
            following = "&".join(f"next={site.url(host)}/" for host in ("localhost", REBOUND))
            before = len(sink.heard)
            with chromium.opened(site.url(path=f"/?{following}"), tmp_path / "profile"):
                reports = site.reported(3)

    assert [report["from"].partition(":")[0] for report in reports] == ["127.0.0.1", "localhost", REBOUND]
    outcomes = [
        (report["from"], name, attempt, outcome)
        for report in reports
        for name, attempt, outcome in report["outcomes"]
    ]
    shown = [each for each in outcomes if each[3].startswith(SHOWN)]
    read = {attempt for _, name, attempt, _ in shown if name == "everybody"}
    assert {"create a function, cors", "list objects, cors", "scan the table", "put an object"} <= read
    sent = {(one.method, one.as_what) for one in everybody.asked}
    assert sent >= {
        ("POST", "empty"), ("PUT", "empty"), ("OPTIONS", "empty"), ("GET", "image"), ("GET", "script"),
        ("GET", "iframe"), ("POST", "iframe"),
    }, "this much a browser lets a page send"  # fmt: skip

    others = [each for each in shown if each[1] != "everybody"]
    assert {(name, outcome) for _, name, _, outcome in others} <= {("front", "read 401")}
    assert (made(behind), len(sink.heard)) == ([], before)
    assert ann.items("/v1/sessions") == []
    behind.client("lambda").invoke(FunctionName=runs)
    assert len(sink.heard) == before + 1
    assert ann.get("/v1/sessions").status_code == 200, "and no function's process was ended"
