"""The clients against the real API: every function, the offline model, an engine that runs at once."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

import acta
from acta.client.errors import ConflictError, InvalidRequestError, PlanNotFoundError, SessionNotFoundError
from tests.acta.real_api import FOR_ADMINS, RealApi

LISTING = "List my files"


def client_of(api: RealApi, user: str = "ann", **given: Any) -> acta.Client:
    return acta.Client(acta.Deployment(api.url, user), **given)


def deletion(client: acta.Client) -> str:
    """A goal that a person has to agree to."""
    client.files.write("old.txt", b"old")
    return "Delete the file old.txt"


def test_a_session_is_started_followed_and_read(real_api: RealApi) -> None:
    with client_of(real_api) as client:
        client.files.write("notes.md", b"# Notes")
        session_id = client.start(LISTING, metadata={"ticket": "7"})["session_id"]
        events = list(client.follow(session_id))
        session = client.wait(session_id)
        assert (session["state"], session["metadata"]) == ("completed", {"ticket": "7"})
        assert [event["seq"] for event in events] == list(range(1, session["last_seq"] + 1))
        assert [one["session_id"] for one in client.sessions(state="completed")] == [session_id]
        assert client.plan(session_id)["plan"]["status"] == "completed"
        assert {row["kind"] for row in client.steps(session_id)} >= {"llm", "tool"}
        assert next(row["role"] for row in client.messages(session_id)) == "user"
        assert list(client.trace(session_id))
        assert client.receipt(session_id)["session_id"] == session_id
        client.delete(session_id)
        with pytest.raises(SessionNotFoundError):
            client.session(session_id)


def test_following_goes_on_from_a_cursor_that_was_kept(real_api: RealApi) -> None:
    with client_of(real_api) as client:
        session_id = client.start(deletion(client))["session_id"]
        first = next(iter(client.updates(session_id)))
        rest = client.updates(session_id, after=first.cursor)
        assert next(iter(rest)).events == []
        client.cancel(session_id)
        later = [event["seq"] for event in client.follow(session_id, after=first.cursor)]
        assert later[0] == first.events[-1]["seq"] + 1


def test_what_breaks_while_a_session_is_followed_costs_no_event_and_doubles_none(real_api: RealApi) -> None:
    pauses: list[float] = []
    told: list[acta.ClientError] = []
    with client_of(real_api, pause=pauses.append) as client:
        session_id = client.start(deletion(client))["session_id"]
        seen: list[int] = []
        for update in client.updates(session_id, on_outage=told.append):
            seen += [event["seq"] for event in update.events]
            if update.waits_for_a_person:
                asked = update.open_interventions[0]
                client.decide(session_id, asked["intervention_id"], "approve")
                real_api.away = 9
        assert seen == list(range(1, client.session(session_id)["last_seq"] + 1))
        assert [type(one).__name__ for one in told] == ["ApiConnectionError", "ApiConnectionError"]
        with pytest.raises(acta.errors.NotFoundError):
            client.files.read("old.txt")


def test_waiting_ends_where_a_person_is_needed_and_one_decision_counts(real_api: RealApi) -> None:
    with client_of(real_api) as client:
        session = client.wait(client.start(deletion(client))["session_id"])
        (asked,) = session["interventions"]
        assert session["state"] == "waiting_for_user"
        assert [one["intervention_id"] for one in client.interventions(state="pending")] == [
            asked["intervention_id"]
        ]
        told = client.decide(session["session_id"], asked["intervention_id"], "reject", comment="keep it")
        assert (told["state"], told["resolution"]) == ("resolved", "reject")
        with pytest.raises(ConflictError):
            client.decide(session["session_id"], asked["intervention_id"], "approve")
        assert client.wait(session["session_id"])["state"] == "completed"
        assert client.files.read("old.txt") == b"old"


def test_files_have_versions_and_definitions_are_made_changed_and_removed(real_api: RealApi) -> None:
    with client_of(real_api, FOR_ADMINS) as client:
        agent = client.agents.create({"agent_id": "clerk", "name": "Clerk"})
        changed = client.agents.replace("clerk", {"name": "Clerk 2", "version": agent["version"]})
        assert [one["agent_id"] for one in client.agents.list()] == ["clerk", "default"]
        with pytest.raises(ConflictError):
            client.agents.replace("clerk", {"name": "Clerk 3", "version": agent["version"]})
        assert client.agents.get("clerk")["version"] == changed["version"]
        client.agents.delete("clerk")
        note = client.memories.create("fact", "The kettle is red.", tags=["kettle"])
        assert client.memories.get(note["memory_id"])["tags"] == ["kettle"]
        assert [one["text"] for one in client.memories.list()] == ["The kettle is red."]
        client.memories.delete(note["memory_id"])
        schema = {"type": "object", "properties": {}}
        tool = {"name": "ping", "description": "Pings.", "input_schema": schema, "kind": "lambda"}
        client.tools.create({**tool, "config": {"function": "acta-test-tool-ping"}})
        assert "ping" in [one["name"] for one in client.tools.list()]
        client.tools.delete("ping")
        name = next(iter(client.prompts.list()))["name"]
        before = client.prompts.get(name)
        written = client.prompts.write(name, before["content"] + "\nBe brief.", comment="shorter")
        assert written["version"] == before["version"] + 1
        assert next(one["version"] for one in client.prompts.versions(name)) == written["version"]
        assert next(one["action"] for one in client.audit()) == "prompt.write"


def test_an_error_is_of_its_code(real_api: RealApi) -> None:
    with client_of(real_api) as client:
        with pytest.raises(InvalidRequestError) as told:
            client.start("x", max_steps=0)
        assert "max_steps" in told.value.details
        idle = client.start()["session_id"]
        with pytest.raises(PlanNotFoundError):
            client.plan(idle)
        assert client.wait(idle)["state"] == "idle"


def test_the_other_client_does_the_same_with_await(real_api: RealApi) -> None:
    async def talk() -> tuple[str, Sequence[str], bytes, list[str]]:
        async with acta.AsyncClient(acta.Deployment(real_api.url, "ann")) as client:
            await client.files.write("notes.md", b"# Notes")
            session_id = (await client.start(LISTING))["session_id"]
            types = [event["type"] async for event in client.follow(session_id)]
            session = await client.wait(session_id)
            listed = [one["path"] async for one in client.files.list()]
            return session["state"], types, await client.files.read("notes.md"), listed

    state, types, notes, listed = asyncio.run(talk())
    assert (state, notes, listed) == ("completed", b"# Notes", ["notes.md"])
    assert types[0] == "run.started" or "run.finished" in types
