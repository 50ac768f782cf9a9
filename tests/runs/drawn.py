"""What a model may say and a person may set, to be drawn from."""

from hypothesis import strategies as st

from acta.engine.errors import ProviderOverloaded, StreamBroken
from acta.engine.log.conversation import AssistantEntry
from acta.engine.models.model import ModelReply, ModelRequest, RequestedCall
from tests.in_process.scripted import call, completes, plans, says, step

LONG = "A line of a text that is kept elsewhere.\n" * 150
Turn = ModelReply | Exception

PLANNING: tuple[Turn, ...] = (
    *[plans("look", "write")] * 8,
    plans("only"),
    says("", call("update_plan", action="wait_for_user", reason="Which one?")),
    says("I would rather talk."),
    says("", call("update_plan", action="create", goal=" ", steps=[])),
    StreamBroken("cut"),
)
THINKING: tuple[Turn, ...] = (
    *[says("", call("delete_file", path="a.txt"), call("create_file", path="b.txt", content="b"))] * 3,
    says("I look.", call("list_files")),
    says(LONG, call("create_file", path="a.txt", content=LONG), call("list_files")),
    says("I look again.", call("list_files"), call("read_file", path="b.txt")),
    says("", step(1, "completed", "ok"), step(2, "completed", "ok")),
    says("", step(1, "completed", "ok"), call("read_file", path="gone.txt")),
    completes("Done."),
    says("Shall I go on?"),
    says("Hm."),
    says("", RequestedCall("list_files", None, "cut off")),
    says("", call("update_plan", action="fail", reason="It cannot be done.")),
    says("", call("update_plan", action="wait_for_user", reason="And now?")),
    ModelReply(text="", calls=(), stop="refusal", usage=says("").usage),
    ProviderOverloaded("busy", retry_after=2.0),
    StreamBroken("cut"),
)
LIMITS = st.sampled_from(
    [{}, {}, {}, {"max_steps": 3}, {"review_every": 1}, {"token_budget": 6_000}, {"token_budget": 20_000}]
)
CHOICES = st.integers(0, len(THINKING) * len(PLANNING) - 1)
TURNS = st.lists(CHOICES, min_size=2, max_size=8)


class Drawn:
    """Says what the rule that moves the engine was given."""

    provider = "drawn"

    def __init__(self) -> None:
        self.turn = 0

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        if not request.tools:
            return says("It was all said.")
        has_replied = any(isinstance(entry, AssistantEntry) for entry in request.entries)
        menu = THINKING if has_replied else PLANNING
        turn = menu[self.turn % len(menu)]
        if isinstance(turn, Exception):
            raise turn
        return turn
