"""The final answer that a reply gives, and whether it fits the session's schema (ADR 69)."""

from typing import Any, NamedTuple

from shared.domain.rules.goal_marker import claims_completion, value_after_marker, without_marker
from shared.domain.session.head import Head
from shared.domain.session.structured_answer import AnswerCheck, told

NOTHING = "there is no text."


class FinalAnswer(NamedTuple):
    """`text`: without the marker; None: there is none. `data`: its JSON value. `problem`: what the model is told of one
    that does not fit; empty: it fits, or the session has no schema.
    """

    text: str | None
    data: Any = None
    problem: str = ""


class Answers(NamedTuple):
    """`schema`: the session's; empty: it has none."""

    check: AnswerCheck
    schema: str

    def of(self, text: str, closing: str | None) -> FinalAnswer:
        """`text`: of the whole reply. `closing`: the reason with which it completes the plan, which is the answer where
        the text is none: without a schema an empty one, with it one that does not fit.
        """
        if not self.schema:
            return FinalAnswer(without_marker(text) or closing or None)
        written = [one for one in (value_after_marker(text), closing) if one]
        problems = []
        for one in written:
            value, problem = self.check(self.schema, one)
            if not problem:
                return FinalAnswer(one, value)
            problems.append(problem)
        return FinalAnswer(
            written[0] if written else None, problem=told(problems[0] if problems else NOTHING)
        )

    def in_text(self, head: Head, text: str, *, called: bool) -> FinalAnswer | None:
        """The answer that a reply without calls to run gives with its text alone. None: it gives none, or something
        else is to be done first, or the session has no schema. `called`: as in `AppliedReply`.
        """
        is_open = head.plan is not None and head.plan.is_live and head.plan.open_steps
        if not self.schema or not text.strip() or head.undelivered or is_open:
            return None
        found = self.of(text, None)
        is_meant = claims_completion(text) or (not called and not found.problem)
        return found if is_meant else None
