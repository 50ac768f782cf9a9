"""`offline` and the person it works for: questions, answers, new goals."""

from shared.adapters.llm.offline.model import OfflineModel
from shared.domain.session.conversation import AssistantEntry, Content, ToolCall, ToolEntry
from tests.unit.llm.offline.agent import Step
from tests.unit.llm.offline.storage import DEMO, agent


def test_a_vague_goal_is_asked_about_and_the_answer_becomes_the_goal() -> None:
    run = agent().run("clean up")
    assert run.state == "waiting"
    assert run.plans == []
    assert "delete" in run.asked[0]

    run.run("delete todo.txt")

    assert run.state == "completed"
    assert "todo.txt" not in run.files


def test_a_file_without_a_text_is_asked_about_and_the_answer_is_the_text() -> None:
    run = agent().run("Create hello.txt")
    assert run.asked == ["What text should hello.txt hold?"]

    run.run("Good morning")

    assert run.files["hello.txt"] == "Good morning"


def test_the_answer_about_a_text_is_the_text_whatever_it_says() -> None:
    run = agent().run("Create hello.txt")
    run.run("delete todo.txt")

    assert run.files["hello.txt"] == "delete todo.txt"
    assert "todo.txt" in run.files


def test_more_than_a_plan_holds_is_asked_to_be_split() -> None:
    run = agent().run(", then ".join(f"copy a{n}.md to b{n}.md" for n in range(6)))

    assert run.state == "waiting"
    assert "fewer tasks" in run.asked[0]


def test_two_vague_answers_end_in_an_honest_one() -> None:
    run = agent().run("do something")
    run.run("something")
    run.run("anything")

    assert run.state == "completed"
    assert "I cannot do this" in run.answer


def test_a_message_after_a_finished_run_is_a_new_goal() -> None:
    run = agent().run("Create hello.txt with the text Hi")
    run.run("Delete hello.txt")

    assert run.state == "completed"
    assert "hello.txt" not in run.files
    assert run.answer.startswith("Deleted hello.txt.")


def test_the_same_goal_again_works_on_the_storage_as_it_is_now() -> None:
    run = agent().run("How many files are there?")
    run.files["more.txt"] = "x"
    run.run("How many files are there?")

    assert "6 files" in run.answer


def test_a_message_in_the_middle_of_a_run_is_done_too() -> None:
    run = agent().say(DEMO)
    run.state = "planning"
    for _ in range(3):
        run.step()
    run.say("Also delete empty.txt").go_on()

    assert run.state == "completed"
    assert "summary.md" in run.files
    assert "empty.txt" not in run.files
    assert "Deleted empty.txt" in run.answer
    assert run.refusals == []


def test_a_refused_plan_is_offered_again_without_tool_names() -> None:
    run = agent()
    run.tools = ("list_files",)
    run.run(DEMO)

    assert run.state == "completed"
    assert len(run.refusals) == 1
    assert "failed" in [step.status for step in run.plan or []]


def test_nothing_is_kept_between_calls() -> None:
    run = agent().say(DEMO)
    run.state = "planning"
    while run.state in ("planning", "executing"):
        request = run.request(planning=run.state == "planning")
        assert OfflineModel().complete(request, timeout=1.0) == OfflineModel().complete(request, timeout=1.0)
        run.step()

    assert run.state == "completed"


def test_usage_grows_with_the_conversation() -> None:
    run = agent().run(DEMO)

    # the planning turn alone offers one tool instead of six
    inputs = [reply.usage.input for reply in run.replies]
    assert inputs == sorted(inputs)
    assert all(reply.usage.output > 0 and reply.usage.cached_input == 0 for reply in run.replies)


def test_a_plan_that_another_model_made_gives_way_to_one_of_its_own() -> None:
    run = agent().say("List my files")
    run.state = "executing"
    run.plan = [Step("Look around", None)]
    steps = [{"description": "Look around"}]
    create = ToolCall(
        call_id="p",
        effect_id="e",
        name="update_plan",
        input={"action": "create", "goal": "List my files", "steps": steps},
    )
    run.entries += [
        AssistantEntry(message_id="x", content=Content.of(""), calls=(create,), provider="anthropic"),
        ToolEntry(call_id="p", name="update_plan", content=Content.of("Plan created."), ok=True),
    ]

    run.go_on()

    assert run.state == "completed"
    assert "notes.md" in run.answer
    assert run.refusals == []
