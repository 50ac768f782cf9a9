"""The tree of sessions below a session: `acta tree`, and what a followed session shows of it while it is followed."""

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from threading import Event, Thread
from typing import Any

from acta.cli.connection import connect, session_named
from acta.cli.terminal.session_lines import marks_for, outcome_mark, state_words
from acta.cli.terminal.text import counted, dollars, moment, one_line, show
from acta.client.api import Client
from acta.client.errors import ClientError
from acta.client.following import has_ended

EVERY_SECONDS = 3.0
MOST_FOLLOWED = 100
"""Sessions that are read each time while a tree is followed."""
GOAL, AGENT = 60, 24

Node = Mapping[str, Any]


def tree(arguments: Namespace) -> int:
    client = connect(arguments)
    nodes = list(client.tree(session_named(client, arguments.id), limit=1_000))
    return show(nodes, tree_lines(nodes, marks_for(sys.stdout.encoding)), as_json=arguments.json)


def tree_lines(nodes: Sequence[Node], marks: Mapping[str, str], most: int | None = None) -> Iterator[str]:
    """A line for each session, and their sums. `most`: so many lines, of those at work first."""
    shown = set(range(len(nodes)))
    if most is not None and len(nodes) > most:
        at_work = [place for place, node in enumerate(nodes) if not has_ended(node)]
        ended = [place for place, node in enumerate(nodes) if has_ended(node)]
        shown = set([*at_work, *ended][:most])
    for place, node in enumerate(nodes):
        if place in shown:
            yield node_line(node, marks)
    if left_out := len(nodes) - len(shown):
        yield f"  and {left_out:,} more"
    yield sums_line(nodes)


def node_line(node: Node, marks: Mapping[str, str]) -> str:
    """Written like `  ▶ searcher 2  awaits agents  1,234 tokens  $0.012000  in/2.pdf  ses_…`: with what tells it from
    the other sessions of its call, or else its goal.
    """
    as_session = {
        **node,
        "result": {"goal_met": node["goal_met"]},
        "interventions": [{**each, "state": "pending"} for each in node["questions"]],
    }
    mark = outcome_mark(as_session, marks) if has_ended(node) else marks["in_progress"]
    place = f" {node['item']}" if node["item"] is not None else ""
    name = f"{'  ' * node['depth']}{mark} {one_line(node['agent_name'], AGENT - 4)}{place}"
    until = f"  until {moment(node['retry_at'])}" if node["retry_at"] else ""
    asks = "".join(
        f"  asks {one_line(str(each['type']).replace('_', ' '), 40)}"
        + (f" of {one_line(each['tool'], 40)}" if each["tool"] else "")
        for each in node["questions"]
    )
    used = f"{node['tokens']:>9,} tokens  {dollars(node['cost_usd']):>11}"
    about = one_line(node.get("about") or node["goal"], GOAL)
    told = f"{name:<{AGENT}}  {state_words(as_session):<16}  {used}  {about}"
    return f"{told}{until}{asks}  {node['session_id']}"


def sums_line(nodes: Sequence[Node]) -> str:
    costs = [node["cost_usd"] for node in nodes]
    cost = None if None in costs else sum(costs)
    at_work = sum(not has_ended(node) for node in nodes)
    tokens = sum(node["tokens"] for node in nodes)
    return f"{counted(len(nodes), 'session')}, {at_work} not ended, {tokens:,} tokens, {dollars(cost)} for models"


class LiveTree:
    """The tree of a session that is followed, read again and again by a thread of its own."""

    def __init__(self, client: Client, session_id: str) -> None:
        self.client = client
        self.session_id = session_id
        self.nodes: list[Node] = []
        self.closed = Event()
        self.thread = Thread(target=self.read_on, daemon=True)

    def lines(self, marks: Mapping[str, str], most: int) -> list[str]:
        """As `tree_lines`; none as long as no child is known."""
        return list(tree_lines(self.nodes, marks, most)) if len(self.nodes) > 1 else []

    def begin(self, session: Mapping[str, Any]) -> None:
        """Once the session has called an agent."""
        if session.get("children") and self.thread.ident is None:
            self.thread.start()

    def read_on(self) -> None:
        while True:
            self.read()
            if self.closed.wait(EVERY_SECONDS):
                return

    def read(self) -> None:
        with suppress(ClientError):  # what was read last stays; following says that nobody answers
            found = self.client.tree(self.session_id, limit=MOST_FOLLOWED)
            self.nodes = list(islice(found, MOST_FOLLOWED))

    def close(self) -> None:
        """Reads it a last time, as it is at the end."""
        self.closed.set()
        if self.thread.ident is not None:
            self.thread.join(EVERY_SECONDS)
            self.read()
