"""`acta run`, `acta fork`, `acta watch`, `acta say`; `acta pause`, `acta resume`, `acta cancel`. A session is followed
on this terminal, or as lines of JSON, until it ends or needs somebody.

A person at the terminal is asked when the session waits for one. Without a terminal the commands that decide are
printed instead, and following goes on: somebody may decide elsewhere. Ctrl-C ends the following, never the session.
"""

import json
import sys
import textwrap
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import Invocation, connect, session_named
from acta.cli.exit_codes import CliError
from acta.cli.files import put_directory
from acta.cli.sessions.ask import Question, Questions, fit_together
from acta.cli.sessions.interventions import (
    deciding_lines,
    question_lines,
    token_lines,
)
from acta.cli.sessions.tree import LiveTree
from acta.cli.terminal.prompt import discard_typed_ahead, use_line_editor
from acta.cli.terminal.session_lines import (
    begun_wait,
    event_line,
    is_goal_missed,
    line_words,
    marks_for,
    outcome_mark,
    outcome_words,
    state_words,
    try_now_line,
    usage_line,
    view_for,
)
from acta.cli.terminal.text import Screen, counted, echo, note, one_line, show, visible
from acta.client.api import Client
from acta.client.errors import ClientError, InvalidRequestError
from acta.client.following import Feed, Update, has_ended, is_paused, open_interventions, waits_for_tokens
from acta.engine.untrusted.exact_json import read_exactly


def run(arguments: Namespace) -> int:
    client = connect(arguments, role="admin" if arguments.prompts else "member")
    if arguments.files:
        note(f"put {counted(len(put_directory(client, arguments.files)), 'file')} into the storage")
    fields = {"content": arguments.goal, "review_every": arguments.review_every, **started(arguments)}
    with agent_named(client, arguments.agent):
        session = client.start(**fields)
    return follow_new(client, session, arguments)


def fork(arguments: Namespace) -> int:
    client = connect(arguments, role="admin" if arguments.prompts else "member")
    fields = {"content": arguments.text or None, "at": arguments.at, **started(arguments)}
    forked = session_named(client, arguments.id)
    with agent_named(client, arguments.agent):
        session = client.fork(forked, **fields)
    return follow_new(client, session, arguments)


@contextmanager
def agent_named(client: Client, agent: str | None) -> Iterator[None]:
    """Raises CliError with the agents that there are if this one is refused because it is none of them."""
    try:
        yield
    except InvalidRequestError as error:
        if agent is None or "agent_id" not in error.details:
            raise
        there = [each["agent_id"] for each in client.agents.list()]
        if agent in there:
            raise
        named = f"there {'is' if len(there) == 1 else 'are'} {', '.join(there) or 'none'}"
        raise CliError(
            one_line(
                f'there is no agent "{agent}" here: {named}; `acta apply` brings those of your files', 500
            ),
            error.code,
        ) from None


def started(arguments: Namespace) -> dict[str, Any]:
    """The fields of a start or a fork, under the API's names. Raises CliError."""
    fields = {
        "agent_id": arguments.agent,
        "max_steps": arguments.max_steps,
        "token_budget": arguments.token_budget,
        "cost_budget_usd": arguments.cost_budget,
        "visibility": "private" if arguments.private else None,
        "prompts": tried(arguments.prompts),
    }
    for text in arguments.fields or ():
        name, equals, value = text.partition("=")
        if not name.isidentifier() or not equals or name in ("session_id", "idempotency_key"):
            raise CliError(f"--set {text}: write NAME=VALUE, such as notify_url=https://example.com")
        try:
            fields[name] = read_exactly(value)
        except json.JSONDecodeError:
            fields[name] = value
        except (ValueError, RecursionError) as error:
            raise CliError(f"--set {name}: {error}") from None
    return fields


def tried(named: Sequence[str] | None) -> dict[str, int] | None:
    """The prompts' versions from texts of the form `NAME=VERSION`. Raises CliError."""
    prompts = {}
    for text in named or ():
        name, _, version = text.partition("=")
        if not version.isdecimal():
            raise CliError(f"--prompt {text}: write NAME=VERSION, such as agent_planning_system=3")
        prompts[name] = int(version)
    return prompts or None


def follow_new(client: Client, session: Mapping[str, Any], arguments: Namespace) -> int:
    """Follows a session that was just made, unless `--detach` was given."""
    session_id = str(session["session_id"])
    for one in session.get("questions_seen_by", ()):  # of a private session
        role, tools = (visible(text, keep_newlines=False) for text in (one["role"], ", ".join(one["tools"])))
        note(f"whoever has the role {role} sees and decides questions about calls of: {tools}")
    if arguments.detach:
        return show(session, [session_id], as_json=arguments.json)
    if arguments.json:
        note(f"session {session_id}")
        return follow_as_json(client, session_id, arguments)
    echo(f"session {session_id}")
    return follow_on_screen(client, session_id, arguments)


def watch(arguments: Namespace) -> int:
    client = connect(arguments)
    follow = follow_as_json if arguments.json else follow_on_screen
    return follow(client, session_named(client, arguments.id), arguments)


def say(arguments: Namespace) -> int:
    client = connect(arguments)
    session_id = session_named(client, arguments.id)
    session = client.say(session_id, arguments.text)
    lines = said_lines(session, session_id, Invocation.from_arguments(arguments))
    return show(session, lines, as_json=arguments.json)


def said_lines(session: Mapping[str, Any], session_id: str, invocation: Invocation) -> Iterator[str]:
    """What happens with a message, and what to do next."""
    waiting = open_interventions(session)
    if not waiting:
        yield f"{session_id}  the message was taken; follow it with: {invocation.line('watch', session_id)}"
        return
    held = (
        "the session is paused"
        if is_paused(session)
        else "a question is open, and the message decides nothing"
    )
    yield f"{session_id}  the message is kept until it goes on: {held}. To go on, or to stop it:"
    can_be_rejected = any("reject" in one.get("options", ()) for one in waiting)
    for words in (
        ("resume", session_id) if is_paused(session) else ("watch", session_id),
        *([("reject", session_id, "--all")] if can_be_rejected else []),
        ("cancel", session_id),
    ):
        yield f"  {invocation.line(*words)}"


def control(arguments: Namespace) -> int:
    """`arguments.action`: pause, resume or cancel."""
    client = connect(arguments)
    session = getattr(client, arguments.action)(session_named(client, arguments.id))
    return show_state(session, as_json=arguments.json)


def rate(arguments: Namespace) -> int:
    client = connect(arguments)
    session_id = session_named(client, arguments.id)
    session = client.rate(session_id, arguments.rating, arguments.run, comment=arguments.comment or None)
    return show(session, [f"{session_id}  rated {arguments.rating}"], as_json=arguments.json)


def show_state(session: Mapping[str, Any], *, as_json: bool) -> int:
    said = "; ".join((state_words(session), *line_words(session)))
    return show(session, [f"{session['session_id']}  {said}"], as_json=as_json)


def follow_on_screen(client: Client, session_id: str, arguments: Namespace) -> int:
    invocation = Invocation.from_arguments(arguments)
    try:
        all_runs = getattr(arguments, "all", False)
        watcher = Watcher(client, session_id, invocation, no_wait=arguments.no_wait, all_runs=all_runs)
        last = watcher.watch()
    except KeyboardInterrupt:
        ways = " or ".join(invocation.line(name, session_id) for name in ("watch", "cancel"))
        note(f"\nThe session continues without you: {ways}")
        return exit_codes.INTERRUPTED
    session: Mapping[str, Any] = last.session
    going_on = f"to go on: {invocation.line('say', session_id, 'TEXT')}"
    if (session.get("result") or {}).get("reason") == "max_steps":
        going_on += f"; with more turns, first: {invocation.line('limits', session_id, '--max-steps', 'N')}"
    costs = f"its whole bill: {invocation.line('receipt', session_id)}"
    can_go_on = has_ended(session) or session.get("state") == "idle"  # a fork waits for its first message
    print_outcome(session, [going_on, costs] if can_go_on else [costs])
    return exit_codes.of_followed_session(last)


def follow_as_json(client: Client, session_id: str, arguments: Namespace) -> int:
    """Prints the session alone on standard output. Standard error gets each wait, and for each intervention, once, how
    to decide it.
    """
    invocation, announced = Invocation.from_arguments(arguments), set[str]()
    for update in client.updates(session_id, on_outage=Outages(note)):
        session = update.session
        for event in update.events:
            wait, line = begun_wait(event), event_line(event)
            if wait is not None and line is not None:
                try_now = (
                    f"; {try_now_line(invocation.line('resume', session_id))}" if wait.may_be_tried else ""
                )
                note(f"{line}{try_now}")
        for intervention in update.open_interventions:
            identity = str(intervention.get("intervention_id"))
            if identity not in announced:
                announced.add(identity)
                asking = intervention["session_id"]
                note(f"a person is needed; look with {invocation.line('watch', asking)}")
                for line in deciding_lines(invocation, asking, intervention):
                    note(f"  {line}")
        if str(session.get("retry_at")) not in announced:
            announced.add(str(session.get("retry_at")))
            for line in token_lines(invocation, session):
                note(line)
        if arguments.no_wait and (update.waits_for_a_person or waits_for_tokens(session)):
            break
    print(json.dumps(update.session))
    return exit_codes.of_followed_session(update)


class Outages:
    """Says that the deployment does not answer, about once a minute."""

    EVERY = 12
    """After this many failed polls it is said again."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell
        self.failed = 0

    def __call__(self, error: ClientError) -> None:
        if self.failed % self.EVERY == 0:
            said = visible(str(error), keep_newlines=False)
            self.tell(f"{said}; the session goes on without it, and following goes on when it answers again")
        self.failed += 1


class Watcher:
    """Follows a session on the screen, and asks the person at the terminal, if there is one. `all_runs`: also shows the
    runs before the last one.
    """

    def __init__(
        self,
        client: Client,
        session_id: str,
        invocation: Invocation,
        *,
        no_wait: bool = False,
        all_runs: bool = False,
    ) -> None:
        self.client = client
        self.session_id = session_id
        self.invocation = invocation
        self.no_wait = no_wait
        self.all_runs = all_runs
        self.interactive = not no_wait and sys.stdin.isatty() and sys.stdout.isatty()
        """Whether a person can be asked."""
        if self.interactive:
            use_line_editor()
        self.tree = LiveTree(client, session_id)
        self.view = view_for(sys.stdout, invocation.line("resume", session_id), self.tree.lines)
        self.shown: set[str] = set()
        """The interventions that were put on the screen, and the ends of the waits for tokens."""
        self.asked: dict[tuple[str, str], str] = {}
        """For the name and the input of a call, the first intervention that asked about it."""
        self.feed: Feed | None = None
        """If a person can be asked: updates, which keep coming while a prompt is on the screen."""
        self.has_told = False
        """Whether the person was told that this command cannot ask."""

    def watch(self) -> Update:
        """Returns the last update: the session has ended, or with `no_wait` somebody is needed. Raises ClientError."""
        was_called = False
        updates: Iterable[Update] = self.client.updates(self.session_id, on_outage=Outages(self.view.tell))
        if not self.all_runs:
            updates = of_last_run(updates)
        if self.interactive:
            updates = self.feed = Feed(iter(updates))
        try:
            for update in updates:
                session = update.session
                self.add_new_inputs(update.events)
                self.tree.begin(session)
                self.view.show(update)
                was_called = was_called or any(event["type"] == "tool.started" for event in update.events)
                if session.get("state") == "completed" and not was_called:
                    self.view.tell("no tool was called")
                self.tell_token_wait(session)
                self.show_interventions(update)
                if self.no_wait and (update.waits_for_a_person or waits_for_tokens(session)):
                    break
        finally:
            self.tree.close()
            self.view.close()
        return update

    def tell_token_wait(self, session: Mapping[str, Any]) -> None:
        """Says once for each wait for tokens what the session needs."""
        until = str(session.get("retry_at"))
        if until not in self.shown:
            self.shown.add(until)
            for line in token_lines(self.invocation, session):
                self.view.tell(line)

    def add_new_inputs(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Adds the input that a person has given a call instead of the agent's. The event has only its hash."""
        for event in events:
            data = event.get("data") or {}
            if event["type"] == "intervention.resolved" and data.get("option") == "modify":
                asked = self.client.interventions(self.session_id, state="all")
                one = next((one for one in asked if one["intervention_id"] == data["intervention_id"]), None)
                data["input"] = one and (one["input"] or {}).get("input")

    def show_interventions(self, update: Update) -> None:
        if self.feed is not None:
            self.ask_together(update, self.feed)
        for intervention in update.open_interventions:
            identity = str(intervention.get("intervention_id"))
            if identity in self.shown:
                continue
            self.shown.add(identity)
            if self.feed is not None and not self.feed.is_open(identity):
                continue  # decided while another question was on the screen
            with self.view.suspended():
                self.show_question(intervention)

    def ask_together(self, update: Update, feed: Feed) -> None:
        """Asks all new questions at once if they are several yes-or-no questions. The others are asked one by one."""
        fresh = [one for one in update.open_interventions if one["intervention_id"] not in self.shown]
        fresh = [one for one in fresh if feed.is_open(one["intervention_id"])]
        if not fit_together(self.client, fresh):
            return
        with self.view.suspended():
            discard_typed_ahead()
            for number, intervention in enumerate(fresh, 1):
                echo(f"{number} of {len(fresh)}")
                self.show_lines(self.client.with_whole_inputs(intervention["session_id"], intervention))
            if Questions(self.client, fresh, echo).ask(feed):
                self.shown.update(one["intervention_id"] for one in fresh)

    def show_lines(self, intervention: Mapping[str, Any]) -> None:
        asking = intervention["session_id"]
        if asking != self.session_id:
            echo(
                f"Session {asking} ({one_line(intervention['agent_name'])}) below this one waits for a person."
            )
        for line in question_lines(intervention, Screen.of(sys.stdout)):
            echo(line)
        call, identity = intervention.get("tool_call") or {}, str(intervention.get("intervention_id"))
        if call.get("input_hash"):
            first = self.asked.setdefault((call["name"], call["input_hash"]), identity)
            if first != identity:
                echo(f"the same call as in {visible(first, keep_newlines=False)}")

    def show_question(self, intervention: Mapping[str, Any]) -> None:
        if self.interactive:
            discard_typed_ahead()
        whole = self.client.with_whole_inputs(intervention["session_id"], intervention)
        self.show_lines(whole)
        question = Question(self.client, self.invocation, whole, echo)
        if self.feed is not None:
            question.ask(self.feed)
            return
        question.show_commands("decide with one of:")
        if not self.no_wait and not self.has_told:
            self.has_told = True
            lacking = "standard input" if not sys.stdin.isatty() else "standard output"
            note(
                f"nobody can be asked here, because {lacking} is no terminal: this command waits until somebody "
                "decides with one of the commands above (with --no-wait it ends instead)"
            )


def of_last_run(updates: Iterable[Update]) -> Iterator[Update]:
    """The updates without the events that were before the last run, as it was when following began."""
    has_begun = False
    for update in updates:
        if not has_begun:
            run, events = update.session.get("run"), update.events
            starts = [number for number, event in enumerate(events) if run and is_start(event, run["run_id"])]
            has_begun = bool(starts) or not events or events[-1]["seq"] >= update.session.get("last_seq", 0)
            update = replace(update, events=events[starts[0] if starts else 0 :] if has_begun else [])
        yield update


def is_start(event: Mapping[str, Any], run_id: str) -> bool:
    return bool(event["type"] == "run.started" and event["data"].get("run_id") == run_id)


def print_outcome(session: Mapping[str, Any], ways: Iterable[str] = ()) -> None:
    """`ways`: lines that say what to do next. The last line says how the session ended, after a mark that only this
    line has.
    """
    answer = (session.get("result") or {}).get("answer")
    echo("")
    if answer:
        echo(wrapped_answer(visible(str(answer))))
        echo("")
    for line in outcome_words(session):
        echo(line)
    for line in ways:
        echo(line)
    mark = outcome_mark(session, marks_for(sys.stdout.encoding))
    ended = "ended, " if is_goal_missed(session) else ""
    echo(f"{mark} {ended}{state_words(session)} · {usage_line(session)}")


def wrapped_answer(answer: str) -> str:
    """On a terminal the answer is broken between words; elsewhere it stays as it is."""
    if not sys.stdout.isatty():
        return answer
    columns = Screen.of(sys.stdout).columns - 1
    lines = [textwrap.wrap(line, columns, drop_whitespace=False) or [""] for line in answer.split("\n")]
    return "\n".join(row.rstrip() for rows in lines for row in rows)
