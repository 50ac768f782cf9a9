"""A tree of sessions on three levels whose money is looked at after every commit: a boss, its leads, their workers."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from acta.engine.errors import SessionNotFound, StoreUnavailable
from acta.engine.log.commit import Commit
from acta.engine.log.conversation import AssistantEntry, UserEntry
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.head import Head
from acta.engine.log.repository import SessionRepository
from acta.engine.log.store import NO_ITEMS, LogPage, NumberTaken, TransactionItems
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.turn.budget import ROUNDING, all_tokens, reserved, spent_usd, tokens_used
from tests.in_process.deaths import PORTS, Deaths, Port
from tests.in_process.family import FamilyHouse, Scripts
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, says

MODEL = "claude-sonnet-5-5"
"""Its price is known."""


def goal_of(request: ModelRequest) -> str:
    return next(entry for entry in request.entries if isinstance(entry, UserEntry)).content.text or ""


def writes(request: ModelRequest) -> ModelReply:
    """A worker writes a file that is called as the last word of its goal."""
    return says("", call("create_file", path=f"{goal_of(request).split()[-1]}.md", content="x"))


def leads(request: ModelRequest) -> ModelReply:
    name = goal_of(request).split()[-1]
    return says("", call("worker", goal="Write", map=[f"{name}1", f"{name}2"], at_once=2))


TREE: Scripts = {
    "boss": [says("", call("lead", goal="Lead", map=["a", "b"], at_once=1)), says("All done.")],
    "lead": [leads, says("Led.")],
    "worker": [writes, says("Written.")],
}
AGENTS: Mapping[str, Mapping[str, Any]] = {
    "boss": {"agents": [{"agent": "lead"}], "model": MODEL},
    "lead": {"agents": [{"agent": "worker"}], "model": MODEL},
    "worker": {"model": MODEL},
}
FILES = ["a1.md", "a2.md", "b1.md", "b2.md"]


@dataclass
class LogFigures:
    """What one session's log was asked for. `read`: commits in answers to range reads; `largest`: bytes as JSON."""

    commits: int = 0
    read: int = 0
    largest: int = 0
    most_at_work: int = 0

    def add(self, commit: Commit) -> None:
        self.commits += 1
        self.largest = max(self.largest, len(commit.model_dump_json()))
        self.most_at_work = max(self.most_at_work, len(commit.head.children_at_work))


class WatchedLog:
    """Looks at the money of a session after each of its commits."""

    def __init__(self, log: DynamoLog) -> None:
        self._log = log
        self.commits = 0
        self.figures: dict[str, LogFigures] = {}
        self.sessions: set[str] = set()
        """All that ever had a commit."""
        self.lost_answers: frozenset[int] = frozenset()
        """Numbers of the commits whose answer gets lost: the SDK's own retry meets the commit."""
        self.asked = 0
        self.down = range(0)
        """Of these writes none arrives."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def of(self, session_id: str) -> "LogFigures":
        return self.figures.setdefault(session_id, LogFigures())

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        page = self._log.read(tenant, session_id, since, limit=limit)
        self.of(session_id).read += len(page.commits)
        return page

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        self.asked += 1
        if self.asked in self.down:
            raise StoreUnavailable("down")
        self._log.append(commit, extra_items)
        self.commits += 1
        self.sessions.add(commit.head.session_id)
        self.of(commit.head.session_id).add(commit)
        check_money(commit.head)
        if self.commits in self.lost_answers:
            raise NumberTaken


def check_money(head: Head) -> None:
    """What is charged and what children at work may still use is no more than the budget."""
    tokens, usd = reserved(head)
    assert tokens_used(head) + tokens <= head.budget.token_budget, head.session_id
    limit = head.budget.cost_budget_usd
    assert limit is None or spent_usd(head) + usd <= limit + ROUNDING, head.session_id
    assert all(child.tokens >= 0 and (child.usd or 0.0) >= 0 for child in head.children_at_work)


class TreeHouse(FamilyHouse):
    """Its workers may die at every outgoing call (`tests.in_process.deaths`)."""

    def __init__(
        self, scripts: Scripts = TREE, agents: Mapping[str, Mapping[str, Any]] = AGENTS, **more: Any
    ) -> None:
        super().__init__(scripts, agents, **more)
        self.family_model.provider = "anthropic"
        self.watched = WatchedLog(self.log)
        self.sessions = self.watched.sessions
        self.log = self.watched  # type: ignore[assignment]
        self.new_worker()

    def new_worker(self) -> None:
        self.repository = self.fresh_repository()
        self.runtime = self.app().tool_runtime

    def mortal_workers(self, deaths: Deaths) -> None:
        for name in PORTS:
            port = getattr(self, name)
            if isinstance(port, Port):
                port._deaths = deaths
            else:
                setattr(self, name, Port(port, name, deaths))
        self.new_worker()

    def head(self, session_id: str) -> Head:
        """Looking does not kill."""
        return SessionRepository(self.watched, self.blobs, self.clock).newest(TENANT, session_id).head

    def children(self, session_id: str) -> list[Head]:
        """Those that are not deleted."""
        there = []
        for child in self.watched.children(TENANT, session_id):
            with suppress(SessionNotFound):
                there.append(self.head(child))
        return there

    def tree(self, session_id: str) -> list[Head]:
        """The session and all below it, each before those below it."""
        heads = [self.head(session_id)]
        for child in sorted(self.children(session_id), key=_place):
            heads += self.tree(child.session_id)
        return heads

    def written(self) -> list[str]:
        return sorted(each.path for each in self.files.list(TENANT, "", 99).files if each.path != "a.md")

    def check_accounts(self, session_id: str) -> None:
        """Every session was charged what its children were, once, and nothing is reserved any more."""
        for head in self.tree(session_id):
            children = self.children(head.session_id)
            assert reserved(head) == (0, 0.0)
            assert not head.owes_family
            assert head.budget.children_tokens == sum(all_tokens(child.budget) for child in children)
            assert abs(head.budget.children_usd - sum(map(spent_usd, children))) < 1e-9
            assert len(
                {(child.parent.call_id, child.parent.item) for child in children if child.parent}
            ) == len(children)


def _place(head: Head) -> tuple[str, int]:
    assert head.parent is not None
    return head.parent.call_id, head.parent.item


def replies(request: ModelRequest) -> int:
    return sum(isinstance(entry, AssistantEntry) for entry in request.entries)
