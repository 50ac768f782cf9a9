"""`acta dev` as a process of its own: it serves what `acta up` serves, and its sessions outlive it."""

import base64
import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from llmock.scenarios import Reply

from acta.infra.local.issuer import AUTHORIZE
from acta.infra.tool_folders import TOOLS_DIR
from acta.local_aws.testing import eventually
from tests.doubles import http_sink
from tests.e2e.support.gate import Gate
from tests.e2e.support.notified import verifies
from tests.e2e.support.person import Json, Person
from tests.e2e.support.thinking import calls, end, plan
from tests.local.served import Served, acta, is_alive

TOOLS = '''
import os
from pathlib import Path

from acta import Call, tool

DONE, GATE = Path(__file__).with_name("done.txt"), Path(__file__).with_name("gate")


def act(call: Call, what: str) -> str:
    """Has its effect, and then waits at the gate, unless it has had it before."""
    is_first = not DONE.exists()
    with DONE.open("a") as done:
        done.write(f"{what} {call.effect_id} {call.rerun}\\n")
    if is_first:
        GATE.read_text()
    return f"done {what}"


@tool(effect="once", high_stakes=False)
def pay(what: str, call: Call) -> str:
    """Pays."""
    return act(call, what)


@tool(effect="idempotent", high_stakes=False)
def book(what: str, call: Call) -> str:
    """Books."""
    return act(call, what)


@tool(effect="read")
def look(what: str, call: Call) -> str:
    """Looks."""
    return act(call, what)


@tool(effect="read", timeout_seconds=1)
def hang(how: str) -> str:
    """Hangs, or ends its process."""
    if how == "ends":
        os._exit(1)
    GATE.read_text()
    return "never"


@tool(effect="read", files="read")
def first_line(path: str, call: Call) -> str:
    """Reads a line."""
    os.system("echo '{}'")
    print(f"reading {path}")
    return call.files.read_text(path).splitlines()[0] + " " + call.secret("GREETING")
'''
SETTINGS = 'tenants = ["*"]\nsecrets = ["GREETING"]\n'
Serve = Callable[..., Served]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """The folder of tools. `gate` is a pipe: who reads it waits for somebody who writes."""
    folder = tmp_path / "tools" / "effects"
    folder.mkdir(parents=True)
    (folder / "tools.py").write_text(TOOLS)
    (folder / "tool.toml").write_text(SETTINGS)
    os.mkfifo(folder / "gate")
    return folder


@pytest.fixture
def serve(tmp_path: Path, tools: Path) -> Iterator[Serve]:
    """Makes `acta dev` on one state directory, and ends it whatever happens."""
    made: list[Served] = []

    def start(**environ: str) -> Served:
        environ = {TOOLS_DIR: str(tools.parent), "GREETING": "hello there", **environ}
        served = Served(tmp_path / "state", None, "dev", **environ)
        made.append(served)
        served.start()
        return served

    yield start
    for served in made:
        if served.process is not None and served.process.poll() is None:
            served.process.kill()
            served.process.wait()


def person(served: Served, role: str = "member") -> Person:
    token = served.ready["token" if role == "member" else "admin_token"]
    return Person(served.ready["api_url"], token)


def with_model(llmock: Any, gate: Gate | None = None) -> dict[str, str]:
    """Variables for a model that says what a test has told it."""
    url = llmock.tool_mode("off").base_url("anthropic")
    if gate is not None:
        url = gate.url + urlsplit(url).path
    return {"ANTHROPIC_API_KEY": "sk-of-a-test", "ANTHROPIC_BASE_URL": url}


def results(you: Person, session_id: str) -> list[str]:
    return [
        each["content"] for each in you.items(f"/v1/sessions/{session_id}/messages") if each["role"] == "tool"
    ]


def killed(served: Served) -> None:
    assert served.process is not None
    served.process.kill()
    served.process.wait()
    assert served.process.stdout is not None
    served.process.stdout.close()
    served.process = None


def test_a_goal_an_approval_the_page_and_the_usage(serve: Serve) -> None:
    """With the stand-in for a model. One process for all of it, because starting takes longest."""
    served = serve()
    with closing(person(served).http), closing(person(served, "admin").http):
        you, admin = person(served), person(served, "admin")
        you.put_file("old.txt", "old")
        session_id = you.start("Delete the file old.txt")
        seen = you.asked(session_id)
        (asked,) = seen.session["interventions"]
        assert asked["tool_call"]["name"] == "delete_file"
        assert you.resolve(session_id, asked["intervention_id"], "approve").status_code == 200
        assert you.finished(session_id).session["state"] == "completed"
        assert you.files() == set()

        page = httpx.get(served.ready["api_url"] + "/console/inbox", trust_env=False)
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")

        def counted() -> Json | None:
            total: Json = admin.data("/v1/usage")["total"]
            return total if sum(total["runs_ended"].values()) else None

        assert eventually(counted)["tokens"]["model_calls"] >= 2
        assert admin.items("/v1/audit", action="intervention.resolve")


def test_a_second_process_is_told_where_the_first_one_is(serve: Serve) -> None:
    served = serve()
    second = acta("dev", "--state", str(served.state))
    assert second.returncode != 0
    assert served.ready["api_url"] in second.stderr
    assert len(second.stderr.splitlines()) == 1


def test_web_pages_of_strangers_get_neither_an_answer_nor_a_token(serve: Serve) -> None:
    served = serve()
    url, auth = served.ready["api_url"], {"Authorization": f"Bearer {served.ready['token']}"}
    rebound = httpx.get(f"{url}/v1/sessions", headers={**auth, "Host": "evil.example"}, trust_env=False)
    assert rebound.status_code == 403
    form = {"tenant": "demo", "user": "you"}
    signed_in = httpx.post(
        url + AUTHORIZE, data=form, headers={"Origin": "https://evil.example"}, trust_env=False
    )
    assert signed_in.status_code == 403
    assert httpx.get(f"{url}/v1/sessions", trust_env=False).status_code == 401


@pytest.mark.parametrize(
    "end_with", [pytest.param(signal.SIGINT, marks=pytest.mark.thorough), signal.SIGKILL]
)
def test_a_turn_that_was_cut_off_is_made_by_the_next_process(
    serve: Serve, llmock: Any, end_with: signal.Signals
) -> None:
    whole = end("After all.")
    for _ in range(2):  # the first answer goes to a process that is gone
        llmock.add(Reply(text=whole.text, tool_calls=(*plan().tool_calls, *whole.tool_calls)))
    with Gate(urlsplit(llmock.base_url("anthropic")).port or 0) as gate:
        gate.shut()
        served = serve(**with_model(llmock, gate))
        session_id = person(served).start("Do it")
        gate.wait_for_a_request()
        if end_with == signal.SIGKILL:
            killed(served)
        else:
            assert served.stop(end_with)[0] == 0
        gate.open()
        again = person(serve(**with_model(llmock, gate)))
        session = again.finished(session_id).session
    assert (session["state"], session["result"]["answer"]) == ("completed", "After all.")


@pytest.mark.parametrize(
    ("tool", "reruns", "end_with"),
    [
        ("pay", ["False"], signal.SIGKILL),
        pytest.param("book", ["False", "True"], signal.SIGKILL, marks=pytest.mark.thorough),
        ("look", ["False", "False"], signal.SIGINT),
    ],
)
def test_a_tool_call_that_was_cut_off_has_its_effect_once(
    serve: Serve, llmock: Any, tools: Path, tool: str, reruns: list[str], end_with: signal.Signals
) -> None:
    """One that may be repeated is called again under the same id; of one that may not, a person says what happened."""
    llmock.add(Reply(tool_calls=(*plan().tool_calls, *calls((tool, {"what": "7"})).tool_calls)))
    llmock.add(end("Seen to."))
    served = serve(**with_model(llmock))
    session_id = person(served).start("Do it")
    done = tools / "done.txt"
    eventually(lambda: done.read_text() if done.exists() else None)
    left = served.descendants()
    assert os.getsid(0) not in map(os.getsid, left), "Ctrl-C in a terminal reaches a whole session"
    if end_with == signal.SIGKILL:
        killed(served)
    else:
        served.stop(end_with)
    eventually(lambda: None if any(map(is_alive, left)) else True)
    you = person(serve(**with_model(llmock)))
    if tool == "pay":
        (asked,) = you.asked(session_id).session["interventions"]
        assert asked["type"] == "error_recovery"
        answer = you.resolve(session_id, asked["intervention_id"], "record", input={"result": "It was paid."})
        assert answer.status_code == 200, answer.text
    assert you.finished(session_id).session["state"] == "completed"
    written = [line.split() for line in done.read_text().splitlines()]
    assert [rerun for _, _, rerun in written] == reruns
    assert not any("Error" in each for each in results(you, session_id))
    assert len({effect_id for _, effect_id, _ in written}) == 1


def test_a_tool_that_hangs_or_ends_its_process_takes_nothing_with_it(serve: Serve, llmock: Any) -> None:
    for how in ("hangs", "ends"):
        llmock.add(Reply(tool_calls=(*plan().tool_calls, *calls(("hang", {"how": how})).tool_calls)))
        llmock.add(end("Seen to."))
    you = person(serve(**with_model(llmock)))
    for _ in range(2):
        session_id = you.start("Do it")
        assert you.finished(session_id).session["state"] == "completed"
        assert any("Error" in each or "failed" in each for each in results(you, session_id))


def test_a_tool_is_taken_as_it_is_changed_and_reads_files_and_secrets(
    serve: Serve, llmock: Any, tools: Path
) -> None:
    served = serve(**with_model(llmock))
    you = person(served)
    you.put_file("a.txt", "one\ntwo")

    def said() -> str:
        llmock.add(
            Reply(tool_calls=(*plan().tool_calls, *calls(("first_line", {"path": "a.txt"})).tool_calls))
        )
        llmock.add(end("Read."))
        session_id = you.start("Read it")
        you.finished(session_id)
        logged = served.acta("logs", session_id).stdout
        assert [word for word in ("step ", "tool-effects", "reading a.txt") if word not in logged] == [], (
            logged
        )
        return next(each for each in results(you, session_id) if "hello" in each or "changed" in each)

    assert "one hello there" in said()
    log = served.state.with_suffix(".stderr")
    (tools / "tools.py").write_text(TOOLS.replace("[0] + ", "[1] + ' changed ' + "))
    eventually(lambda: "the next call runs them" in log.read_text() or None)
    assert "two changed  hello there" in said()
    (tools / "tools.py").write_text("this is no Python")
    eventually(lambda: "what ran before still runs" in log.read_text() or None)
    assert "SyntaxError" in log.read_text()


class Receiver(http_sink.Sink):
    """Takes nothing the first time."""

    def reply_to(self, heard: http_sink.Heard) -> http_sink.Reply:
        return http_sink.Reply(503) if len(self.heard) == 1 else http_sink.Reply(204, body=b"")


def test_a_webhook_is_told_of_a_question_again_where_it_did_not_take_it(serve: Serve) -> None:
    secret = "whsec_" + base64.b64encode(b"a key of thirty-two bytes or so.").decode()
    with Receiver() as sink:
        served = serve(ACTA_NOTIFY_WEBHOOK_URL=sink.url("/hook"), ACTA_NOTIFY_SECRET=secret)
        you = person(served)
        you.put_file("old.txt", "old")
        session_id = you.start("Delete the file old.txt")
        you.asked(session_id)
        first, again = eventually(lambda: sink.heard[:2] if len(sink.heard) > 1 else None)
    assert first.headers["webhook-id"] == again.headers["webhook-id"]
    assert verifies(again, secret)
    assert session_id in json.dumps(again.body)


def test_what_is_printed_is_one_line_for_a_script(serve: Serve) -> None:
    served = serve()
    assert set(served.ready) == {"api_url", "console_url", "token", "admin_token", "state", "provider"}
    known = json.loads((served.state / "state.json").read_text())
    assert known["api_url"] == served.ready["api_url"]
    listed = served.acta("sessions", "--json")
    assert listed.returncode == 0, listed.stderr
    backed_up = served.acta("backup", "--tenant", "demo", "--to", str(served.state / "copy"))
    assert "there is no AWS behind it" in backed_up.stderr
