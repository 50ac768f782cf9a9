"""What a tool's server does besides answering a call at once (MCP 2026-07-28): a task that it works on by itself (Tasks
extension), and a question to a person before it goes on (Multi round-trip requests).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from acta.engine.models.providers import next_wait
from acta.engine.store.schema import StoredModel

MAX_TASK_ID_CHARS = 1_000
LONGEST_INTERVAL = 240
"""Seconds between two looks, whatever a server asks for."""


class TaskNews(NamedTuple):
    """What a server says of a task that is not over. `interval`: the seconds that it wants between two looks; None: it
    says nothing. `is_told`: a person's answer has reached the server.
    """

    task_id: str
    interval: float | None = None
    is_told: bool = True


class ServerTask(StoredModel):
    """`task_id`: the server's. `began`: when the call was sent. `until`: when its tool's time is over. `look_at`: when
    the engine looks next. `looks`: how many there were. `answered`: the keys of its questions that it has answers to.
    """

    task_id: str
    began: datetime
    until: datetime
    look_at: datetime
    looks: int = 0
    answered: tuple[str, ...] = ()

    @classmethod
    def begun(cls, news: TaskNews, began: datetime, seconds: float, now: datetime) -> "ServerTask":
        """`seconds`: the time that its tool has."""
        until = began + timedelta(seconds=seconds)
        task = cls(task_id=news.task_id, began=began, until=until, look_at=now)
        return task.model_copy(update={"look_at": task._next_look(now, news.interval)})

    def looked(self, now: datetime, news: TaskNews | None = None, told: tuple[str, ...] = ()) -> "ServerTask":
        """The task after a look that did not find it over. `news` None: no answer came. `told`: keys of questions."""
        return self.model_copy(
            update={
                "look_at": self._next_look(now, news.interval if news is not None else None),
                "looks": self.looks + 1,
                "answered": tuple(dict.fromkeys((*self.answered, *told))),
            }
        )

    def after_people(self, asked: datetime, now: datetime) -> "ServerTask":
        """People were to answer since `asked`: the tool's time stood still, and the task is looked at at once."""
        return self.model_copy(update={"look_at": now, "until": self.until + (now - asked)})

    def is_due(self, now: datetime) -> bool:
        return now >= self.look_at

    def is_late(self, now: datetime) -> bool:
        """Whether its tool's time is over."""
        return now >= self.until

    def _next_look(self, now: datetime, interval: float | None) -> datetime:
        """The pauses grow with the time that has passed, as for answers in the background (ADR 60). The last look is
        when the time is over.
        """
        passed = (now - self.began).total_seconds()
        pause = next_wait(passed) if interval is None else max(interval, next_wait(passed, first=1))
        pause = max(1.0, min(pause, LONGEST_INTERVAL))
        return min(now + timedelta(seconds=pause), max(self.until, now + timedelta(seconds=1)))


class ToolQuestion(StoredModel):
    """`requests`: by the server's keys, each with the server's `message` and either the JSON `schema` of a form or a
    `url` that it wants a person to open. `state`: the server's own, which it gets back as it is. `responses`: by the
    same keys, what it is answered; None: nobody has answered yet.
    """

    requests: dict[str, dict[str, Any]]
    state: str | None = None
    responses: dict[str, Any] | None = None

    def accepted(self, contents: Mapping[str, Mapping[str, Any]]) -> "ToolQuestion":
        """Answered with the fields of each form."""
        responses = {
            key: {"action": "accept", **({"content": dict(contents.get(key, {}))} if "schema" in one else {})}
            for key, one in self.requests.items()
        }
        return self.model_copy(update={"responses": responses})

    def declined(self) -> "ToolQuestion":
        return self.model_copy(update={"responses": {key: {"action": "decline"} for key in self.requests}})
