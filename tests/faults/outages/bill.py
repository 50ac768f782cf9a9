"""What a session was charged, against what the provider sold it: the provider's own ledger is right."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tests.faults.person import Json
from tests.faults.provider import Sold


class Bill(NamedTuple):
    """`sold`: replies that came back, each charged as it cost. `unheard`: how many requests got no answer: each may be
    charged at what was set aside for it, and no other request is. An answer that comes after such a charge takes it
    back in its own row.
    """

    sold: tuple[Sold, ...]
    unheard: int

    @property
    def bought_twice(self) -> int:
        """Replies beyond the first to the same request."""
        return sum(count - 1 for count in Counter(one.place for one in self.sold).values())

    def differences(self, session: Json, steps: Sequence[Json]) -> list[str]:
        """Between this and what the session says it was charged, a line each."""
        usage, budget = session["usage"], session["budget"]
        charged = (usage["input_tokens"], usage["output_tokens"])
        rows = (_sum(steps, "input_tokens"), _sum(steps, "output_tokens"))
        sold = (sum(one.input_tokens for one in self.sold), sum(one.output_tokens for one in self.sold))
        estimated = [str(step["error"]) for step in steps if step["estimated_tokens"] > 0]
        taken_back = sum(step["estimated_tokens"] < 0 for step in steps)
        vanished = budget["vanished_tokens"]
        left = budget["token_budget"] - usage["total_tokens"] - vanished
        return [
            *_unless(rows == charged, f"the step log has {rows}, usage {charged}"),
            *_unless(charged == sold, f"charged {charged}, sold were {sold}"),
            *_unless(
                len(estimated) - taken_back <= self.unheard,
                f"{len(estimated)} estimates, {taken_back} taken back, for {self.unheard} unheard requests: "
                f"{', '.join(estimated)}",
            ),
            *_unless(
                _sum(steps, "estimated_tokens") == vanished, f"{vanished} vanished tokens, not as estimated"
            ),
            *_unless(left == budget["tokens_left"], f"{budget['tokens_left']} tokens left, not {left}"),
        ]


def _sum(steps: Sequence[Json], field: str) -> int:
    return sum(int(step[field]) for step in steps)


def _unless(is_right: bool, problem: str) -> list[str]:
    return [] if is_right else [problem]
