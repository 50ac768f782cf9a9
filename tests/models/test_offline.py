"""`offline` in the real runtime: which sentences it understands and what it does. None of its updates is refused."""

from typing import Any

import pytest

from acta import tool
from acta.engine.agents.agent import AgentDefinition
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall
from acta.engine.models.offline import OfflineModel, read_goal
from acta.testing.in_process import InProcess
from acta.testing.python_tools import tools_of
from tests.in_process.house import TENANT, House

STORAGE = {
    "notes.md": "# Project Acta\n\nActa runs agents on AWS. The launch is planned for March 2027 in 3 regions.\n",
    "reports/sales.csv": "month,revenue,region\nJan,1200,EU\nFeb,1500,EU\nMar,900,US\n",
    "reports/todo.txt": "Buy milk for the office\n",
}
DEMO = "List all files in my storage, summarize each, and write the summary to summary.md"


def house(**more: bytes) -> House:
    made = House(OfflineModel())
    for path, data in {**{path: text.encode() for path, text in STORAGE.items()}, **more}.items():
        made.files.write(TENANT, path, data)
    return made


def work(made: House, goal: str, *, goal_met: bool = True) -> str:
    """The answer; nothing that the model did was refused, and it needed no hint."""
    return finished(made, made.start(goal).session_id, goal_met=goal_met)


def finished(made: House, session_id: str, *, goal_met: bool = True) -> str:
    made.run()
    head = made.head(session_id)
    assert (head.state, head.result is not None) == ("completed", True)
    assert head.result is not None
    assert head.result.goal_met is goal_met
    kinds = [seen.event.type for seen in made.poll(session_id).events]
    assert not {"plan.rejected", "hint.injected"} & set(kinds)
    return head.result.answer or ""


def test_the_demo_s_goal_summarizes_each_file_into_a_file() -> None:
    made = house(**{"pic.png": b"\x89PNG\xff\x00"})
    answer = work(made, DEMO)
    page = made.files.read(TENANT, "summary.md").decode()
    assert answer.startswith("Created summary.md")
    assert all(f"## {path}" in page for path in [*STORAGE, "pic.png"])
    assert "Acta runs agents on AWS." in page
    assert "A table of 3 rows, with the columns month, revenue, region." in page
    assert "Could not be read: pic.png is a PNG image" in page


def test_list_all_files_and_summarize_their_contents() -> None:
    answer = work(house(), "List all files and summarize their contents")
    assert all(f"## {path}" in answer for path in STORAGE)
    assert "no language model" in answer


def test_one_file_is_summarized() -> None:
    answer = work(house(), "Summarize notes.md")
    assert "Headings: Project Acta. Acta runs agents on AWS." in answer
    assert "files" not in answer


def test_list_all_files_and_tell_me_how_many_there_are_in_each_folder() -> None:
    answer = work(house(), "List all files and tell me how many there are in each folder")
    assert "3 files in the storage\n- (top): 1 file\n- reports: 2 files" in answer


def test_a_file_that_is_there_is_replaced_once_a_person_approves() -> None:
    made = house(**{"counts.md": b"old"})
    session = made.start("Count the files in each folder and write the counts to counts.md").session_id
    made.run()
    asked = made.head(session).interventions
    assert [one.type for one in asked] == ["approval_required"]
    made.resolve(session, asked[0], "approve")
    finished(made, session)
    assert b"reports: 2 files" in made.files.read(TENANT, "counts.md")


@pytest.mark.parametrize("option", ["approve", "reject"])
def test_a_deletion_waits_for_a_person_and_takes_either_word(option: str) -> None:
    made = house()
    session = made.start("Delete notes.md").session_id
    made.run()
    made.resolve(session, made.head(session).interventions[0], option)
    finished(made, session, goal_met=option == "approve")
    left = [file.path for file in made.files.list(TENANT, "", 100).files]
    assert ("notes.md" in left) is (option == "reject")


@pytest.mark.parametrize(
    ("goal", "tool", "given"),
    [
        ('use send_email with {"to": "ann"}', "send_email", {"to": "ann"}),
        ('Please call the tool lookup with {"a": {"b": [1]}}.', "lookup", {"a": {"b": [1]}}),
        (
            "Create hello.txt with the text Hi there",
            "create_file",
            {"path": "hello.txt", "content": "Hi there"},
        ),
        ("Show reports/todo.txt", "read_file", {"path": "reports/todo.txt"}),
    ],
)
def test_a_tool_is_used_with_the_arguments_that_the_goal_gives(
    goal: str, tool: str, given: dict[str, Any]
) -> None:
    understood = read_goal(goal)
    assert understood is not None
    assert understood.call == RequestedCall(tool, given)


@pytest.mark.parametrize(
    "goal",
    [
        "Book me a flight to Rome",
        "List all files but do not summarize them",
        "Summarize each file unless it is secret",
        "List all files and delete the largest",
        "Write the summary to a.md and to b.md",
        'use refund with {"amount": 5} if it is late',
        "use refund with {broken",
        'use refund with {"amount": 12345678901234567890.123456789}',
        "",
    ],
)
def test_a_goal_with_a_word_too_many_is_declined_and_nothing_is_done(goal: str) -> None:
    assert read_goal(goal) is None


def test_what_it_cannot_do_leaves_the_goal_unmet_and_says_how_to_get_a_model() -> None:
    made = house()
    session = made.start("Translate notes.md into German").session_id
    assert "ANTHROPIC_API_KEY" in finished(made, session, goal_met=False)
    plan = made.head(session).plan
    assert plan is not None
    assert [step.status for step in plan.steps] == ["failed"]


def test_a_tool_that_the_agent_lacks_leaves_the_goal_unmet() -> None:
    made = house()
    session = made.start('use refund with {"amount": 5}').session_id
    made.run()
    head = made.head(session)
    assert head.result is not None
    assert (head.state, head.result.goal_met) == ("completed", False)


def test_a_vague_goal_is_asked_about_and_the_answer_is_the_goal() -> None:
    made = house()
    session = made.start("clean up").session_id
    made.run()
    assert made.head(session).interventions[0].type == "clarification_needed"
    made.say(session, "Count my files")
    assert "3 files" in finished(made, session)


def test_a_file_without_a_text_is_asked_about_and_the_answer_is_the_text() -> None:
    made = house()
    session = made.start("Create the file hello.txt").session_id
    made.run()
    assert made.head(session).interventions[0].context["question"] == "What text should hello.txt hold?"
    made.say(session, "delete notes.md")
    finished(made, session)
    assert made.files.read(TENANT, "hello.txt") == b"delete notes.md"


def test_two_vague_answers_end_in_an_honest_one() -> None:
    made = house()
    session = made.start("do something").session_id
    for answer in ("something", "anything"):
        made.run()
        made.say(session, answer)
    assert "I cannot do this" in finished(made, session, goal_met=False)


def test_one_session_takes_goal_after_goal() -> None:
    made = house()
    session = made.start("Create a.txt with the text one").session_id
    made.run()
    for goal, answer in [("Show a.txt", "one"), ("count my files", "4 files"), ("List my files", "- a.txt")]:
        made.say(session, goal)
        assert answer in finished(made, session)


def test_the_same_request_gets_the_same_reply() -> None:
    requests: list[tuple[ModelRequest, ModelReply]] = []

    class Noting(OfflineModel):
        def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
            requests.append((request, super().complete(request, timeout=timeout)))
            return requests[-1][1]

    made = House(Noting())
    made.start("List my files")
    made.run()
    assert requests
    assert all(OfflineModel().complete(request, timeout=1) == reply for request, reply in requests)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("hi", "Hello!"),
        ("Hello, how are you?", "Hello!"),
        ("What can you do?", "Hello!"),
        ("thanks a lot!", "You are welcome."),
    ],
)
def test_small_talk_is_answered_in_one_call_and_says_who_talks(message: str, said: str) -> None:
    made = house()
    session = made.start(message).session_id
    answer = finished(made, session)
    assert answer.startswith(said)
    assert "no language model" in answer
    assert made.head(session).usage.llm_calls == 1


def test_a_plan_and_its_first_calls_are_one_reply() -> None:
    made = house()
    session = made.start("List my files").session_id
    finished(made, session)
    assert made.head(session).usage.llm_calls == 2


@pytest.mark.parametrize(("name", "goal_met"), [("weigh", True), ("weight", False)])
def test_of_many_tools_it_finds_the_one_that_the_goal_names(name: str, goal_met: bool) -> None:
    @tool(effect="read")
    def weigh(order: int) -> int:
        """Weighs an order."""
        return 12 * order

    acta = InProcess(OfflineModel(), tools=tools_of([weigh]), direct_tools=1)
    session = acta.start(f'use {name} with {{"order": 7}}').session_id
    acta.run()
    head = acta.head(session)
    assert head.result is not None
    assert (head.result.goal_met, "weigh: 84" in (head.result.answer or "")) == (goal_met, goal_met)
    assert head.found_tools == ("weigh",)


def test_it_calls_agents_and_understands_what_they_ask_of_each_other() -> None:
    made = house()
    made.park_after, now = 600, made.clock.now()
    for agent_id, agents in (("boss", [{"agent": "reader"}]), ("reader", [])):
        fields = {"agent_id": agent_id, "name": agent_id.title(), "agents": agents, "version": 1}
        agent = AgentDefinition.model_validate({**fields, "created_at": now, "updated_at": now})
        made.definitions.create_agent(TENANT, agent)
    goal = 'use reader with {"goal": "Summarize the file", "map": ["notes.md", "reports/todo.txt"]}'

    answer = finished(made, made.start(goal, agent_id="boss").session_id)

    assert "three regions" in answer or "3 regions" in answer
    assert "Buy milk" in answer
