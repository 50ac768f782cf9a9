"""`acta sessions`, `acta trace`, `acta plan`, `acta limits`, `acta receipt`: the sessions; what a session did, what it
plans, what its limits are and what it has cost. `acta plan` also edits the steps that are still to be done.
"""

import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from acta.cli.connection import Invocation, connect, session_named
from acta.cli.definitions import json_in
from acta.cli.exit_codes import CliError
from acta.cli.sessions.interventions import of_other, token_lines
from acta.cli.terminal.session_lines import (
    DESCRIPTION_LIMIT,
    MARKS,
    line_words,
    marks_for,
    outcome_words,
    plan_lines,
    state_words,
    waiting_words,
)
from acta.cli.terminal.text import counted, dollars, moment, note, one_line, second, show, time_of_day
from acta.client.api import Client
from acta.client.following import has_ended
from acta.engine.untrusted.exact_json import parse_value

LABEL_WIDTH = 20
MAX_AGENT = 20
"""How many characters of an agent's name are shown."""
MAX_ABOUT = 60
"""How many characters of what a child is about are shown."""
Row = Mapping[str, Any]


def sessions(arguments: Namespace) -> int:
    client = connect(arguments)
    limit = min(arguments.limit, 100)
    found = client.sessions(
        state=arguments.state_is,
        agent_id=arguments.agent,
        goal=arguments.goal,
        created_by=arguments.user,
        goal_met=arguments.goal_met and arguments.goal_met == "yes",
        children=arguments.children,
        limit=limit,
    )
    items = list(islice(found, arguments.limit))
    if not items and not arguments.json:
        state, user = arguments.state_is, arguments.user
        if any((state, arguments.agent, arguments.goal, user, arguments.goal_met)):
            hint = (
                "; --user is the subject of a person, as `created_by` in acta sessions --json" if user else ""
            )
            if not arguments.children:
                hint += "; --children also lists those that agents have started"
            note((f"no sessions in the state {one_line(state)}" if state else "no session fits") + hint)
        else:
            note("no sessions yet: start one with acta run")
    return show(items, (session_line(one, of_other(client, one)) for one in items), as_json=arguments.json)


def session_line(session: Row, owner: str) -> str:
    at = second(session.get("created_at", ""))
    goal = one_line(session.get("goal") or "", 60)
    private = "(private) " if session.get("visibility") == "private" else ""
    line = "".join(f"({words}) " for words in (*line_words(session), *started_by(session)))
    agent = one_line(session.get("agent_name") or session.get("agent_id") or "", MAX_AGENT)
    began = f"{session['session_id']}  {at}  {state_words(session):<16}  {agent:<{MAX_AGENT}}"
    return f"{began}  {owner}{private}{line}{goal}"


def started_by(session: Row) -> Iterator[str]:
    """What has started the session, unless a request of a person did."""
    origin, parent = session.get("origin"), session.get("parent")
    if origin:
        yield f"{origin['kind']} {one_line(origin['id'], 64)}"
    if parent:
        about = one_line(parent.get("about") or "", MAX_ABOUT)
        yield f"child {parent['item']} of {parent['session_id']}{about and ': '}{about}"


def trace(arguments: Namespace) -> int:
    client = connect(arguments)
    session_id = session_named(client, arguments.id)
    items = list(client.trace(session_id))

    def lines() -> Iterator[str]:
        asked = client.interventions(session_id, state="all")
        decisions = [one for one in asked if one.get("state") != "pending"]
        yield from whole_trace_lines(items, client.steps(session_id), decisions)
        yield from outcome_words(client.session(session_id))

    return show(items, lines(), as_json=arguments.json)


def whole_trace_lines(items: Iterable[Row], steps: Iterable[Row], decisions: Iterable[Row]) -> Iterator[str]:
    """Each step with its time, tokens and error, followed by what was thought and done; then the decisions."""
    rows: dict[Any, list[Row]] = {}
    for item in items:
        rows.setdefault(item.get("step_number"), []).append(item)
    for step in steps:
        yield step_line(step)
        for row in rows.pop(step.get("step_number"), ()):
            yield from trace_lines(row)
    for left in rows.values():
        for row in left:
            yield from trace_lines(row)
    for decision in sorted(decisions, key=lambda one: str(one.get("resolved_at"))):
        yield decision_line(decision)


def step_line(step: Row) -> str:
    """Written like `   3  09:30:01  2.1 s  llm  1,234 tokens in, 56 out`."""
    parts = [f"{step.get('step_number', ''):>4} ", time_of_day(step.get("started_at"))]
    parts.append(f"{(step.get('duration_ms') or 0) / 1_000:>6.1f} s ")
    parts.append(one_line(" ".join(str(step.get(name) or "") for name in ("kind", "name")).strip(), 60))
    if step.get("input_tokens") or step.get("output_tokens"):
        cached = f" ({step['cached_input_tokens']:,} cached)" if step.get("cached_input_tokens") else ""
        parts.append(
            f" {step.get('input_tokens', 0):,} tokens in{cached}, {step.get('output_tokens', 0):,} out"
        )
    if step.get("error"):
        parts.append(f" ERROR {one_line(str(step['error']), 60)}")
    return " ".join(parts)


def decision_line(decision: Row) -> str:
    """Who decided what, when, which way, and why."""
    call = (decision.get("tool_call") or {}).get("name")
    about = str(decision.get("type", "")).replace("_", " ") + (f" of {call}" if call else "")
    by = f" by {decision['resolved_by']}" if decision.get("resolved_by") else " by nobody in time"
    by += {"mcp": " over MCP", "mcp_form": " in a form over MCP"}.get(decision.get("via") or "", "")
    said = f": {decision['comment']}" if decision.get("comment") else ""
    at = moment(decision.get("resolved_at"))
    return one_line(f"decided {at}  {about}: {decision.get('resolution')}{by}{said}", 300)


def trace_lines(item: Row) -> Iterator[str]:
    """The thought, the action and the observation of one step, each cut to a line of the terminal. A `+` after the
    step's number means that the worker of the step before made it, too.
    """
    limit = max(40, shutil.get_terminal_size((160, 24)).columns - LABEL_WIDTH)
    number = f"{item.get('step_number') or '':>4}" + ("+" if item.get("fused") else " ")
    if item.get("thought"):
        yield f"{number} thought      {one_line(item['thought'], limit)}"
    if item.get("action"):
        call = f"{item['action']} {one_line(item.get('action_input') or {}, 500)}"
        yield f"{number} action       {one_line(call, limit)}"
    if item.get("observation"):
        yield f"{number} observation  {one_line(item['observation'], limit)}"
    if item.get("final_answer"):
        yield f"{number} answer       {one_line(item['final_answer'], limit)}"


def limits(arguments: Namespace) -> int:
    """Changes the limits that are given; the others stay as they are."""
    client = connect(arguments)
    session_id = session_named(client, arguments.id)
    wanted = {
        "max_steps": arguments.max_steps,
        "token_budget": arguments.token_budget,
        "cost_budget_usd": arguments.cost_budget,
        "review_every": arguments.review_every,
    }
    is_asked = any(value is not None for value in wanted.values())
    session = client.limit(session_id, **wanted) if is_asked else client.session(session_id)
    told = {"session_id": session_id, "limits": session["limits"]}
    waits = chain(waiting_words(session), token_lines(Invocation.from_arguments(arguments), session))
    return show(told, chain(limit_lines(session), waits), as_json=arguments.json)


def limit_lines(session: Mapping[str, Any]) -> Iterator[str]:
    """Each limit, and how much of it is used so far."""
    limits, run, budget = session["limits"], session.get("run") or {}, session.get("budget") or {}
    turns = f", {run['iteration']:,} used" if run.get("iteration") is not None else ""
    yield f"turns         {limits['max_steps']:,} of a run{turns}"
    tokens = f", {budget['tokens_used']:,} used" if budget.get("tokens_used") is not None else ""
    yield f"tokens        {limits['token_budget']:,}{tokens}"
    cost = limits["cost_budget_usd"]
    yield "cost          no limit" if cost is None else f"cost          {cost:g} USD"
    every = limits["review_every"]
    yield f"review        before every {every:,} turns" if every else "review        nobody reviews the work"


LABEL, AMOUNT = 24, 12
"""The widths of the first two columns; the third column is what was counted."""


def receipt(arguments: Namespace) -> int:
    client = connect(arguments)
    told = client.receipt(session_named(client, arguments.id))
    left_out = [f"not counted: {one_line(each, 200)}" for each in told.get("not_counted") or []]
    return show(told, chain(receipt_lines(told), left_out), as_json=arguments.json)


def receipt_lines(told: Mapping[str, Any]) -> Iterator[str]:
    models, aws = told["models"], told["aws"]
    for model in models["items"]:
        tokens = (
            f"{model['fresh_input_tokens']:,} tokens in, {model['cached_input_tokens']:,} from the cache, "
            f"{model['output_tokens']:,} out, {counted(model['calls'], 'call')}"
        )
        yield _line(one_line(model["model"], LABEL - 1), model["usd"], tokens)
    if models.get("vanished_tokens"):
        yield _line("calls without an answer", None, f"{models['vanished_tokens']:,} tokens reserved")
    engine, functions, table, objects = aws["step_functions"], aws["lambda"], aws["dynamodb"], aws["s3"]
    yield _line("Step Functions, about", engine["usd"], counted(engine["transitions"], "transition"))
    time = f"{counted(functions['requests'], 'request')}, {functions['gb_seconds']:,.3f} GB-s"
    yield _line("Lambda, about", functions["usd"], time)
    units = f"{table['write_units']:,} units written, {table['read_units']:,} units read"
    yield _line("DynamoDB, about", table["usd"], units)
    requests = f"{counted(objects['get_requests'], 'get')}, {counted(objects['put_requests'], 'put')}"
    yield _line("S3, about", objects["usd"], requests)
    if any(model["usd"] is None for model in models["items"]):
        yield "no price is known for a model whose cost is unknown: `models` of the environment gives it one"
    of_models, of_aws = told["prices"]["models"], told["prices"]["aws"]
    listed = f"{one_line(of_aws['region'], 30)} of {of_aws['as_of']}" if of_aws["as_of"] else "unknown"
    yield _line("together, about", told["total_usd"], f"prices: models of {of_models['as_of']}, AWS {listed}")
    if tree := told.get("tree"):
        more = "" if tree["complete"] else "the first "
        sessions = f"{more}{tree['sessions']:,} sessions, {tree['tokens']:,} tokens"
        yield _line("with its agents, about", tree["total_usd"], sessions)
    yield f"AWS's part is an estimate: what the session did, times what was measured on {aws['estimated_from']}"


def _line(label: str, usd: float | None, what: str) -> str:
    return f"{label:<{LABEL}}{dollars(usd):>{AMOUNT}}  {what}"


def plan(arguments: Namespace) -> int:
    """Shows the plan. With operations it first edits the version that it has just read: if somebody else has changed
    the plan in between, nothing is done and the person is told.
    """
    client = connect(arguments)
    session_id = session_named(client, arguments.id)
    answer: Row = client.plan(session_id)
    operations = operations_of(arguments, answer["plan"])
    if operations:
        version = answer["plan"]["version"]
        edited = client.edit_plan(session_id, operations, version=version, comment=arguments.comment)
        answer = {**answer, "plan": edited}
    elif arguments.comment is not None:
        raise CliError("--comment goes with a change: --change, --skip, --add, --move or --from")
    return show(answer, lines_of(client, session_id, answer["plan"]), as_json=arguments.json)


def lines_of(client: Client, session_id: str, shown: Row) -> Iterator[str]:
    session = client.session(session_id)
    yield plan_heading(shown, session)
    yield from whole_plan_lines(shown, marks_for(sys.stdout.encoding), is_over=has_ended(session))


def operations_of(arguments: Namespace, shown: Row) -> list[Row]:
    """All operations in this order: from the file, edits, skips, moves, additions. Raises CliError."""
    found: list[Row] = operations_in(arguments.source) if arguments.source else []
    found += [
        {"op": "edit", "step_number": number, "description": text} for number, text in arguments.change or ()
    ]
    found += [{"op": "skip", "step_number": number} for number in arguments.skip or ()]
    found += moved(shown, arguments.skip or (), arguments.move or ())
    return found + [{"op": "add", "description": text} for text in arguments.add or ()]


def operations_in(source: str) -> list[Row]:
    """The operations in a file, in the form of the body of `PATCH /v1/sessions/{id}/plan`. Raises CliError."""
    value = json_in(source, parse_value)
    operations = value.get("operations") if isinstance(value, dict) else value
    if not isinstance(operations, list) or not operations:
        raise CliError(
            f'{source}: a list of operations is needed, such as [{{"op": "skip", "step_number": 3}}]'
        )
    return operations


def moved(shown: Row, skipped: Sequence[int], moves: Sequence[tuple[int, int]]) -> list[Row]:
    """One operation that brings all pending steps into their new order. Raises CliError."""
    if not moves:
        return []
    steps = shown.get("steps") or ()
    order = [one["step_number"] for one in steps if one["status"] == "pending"]
    order = [number for number in order if number not in skipped]
    for number, before in moves:
        for each in (number, before):
            if each not in order:
                raise CliError(f"step {each} is not pending: only pending steps can be moved")
        if number != before:
            order.remove(number)
            order.insert(order.index(before), number)
    return [{"op": "reorder", "step_numbers": order}]


DONE = ("completed", "skipped")
RESULT_LIMIT = 300


def plan_heading(plan: Mapping[str, Any], session: Mapping[str, Any]) -> str:
    """The plan's goal, its version, and how much of it is done; also that the session failed or was cancelled."""
    steps = plan.get("steps") or []
    done = sum(step.get("status") in DONE for step in steps)
    percent = f", {done} of {len(steps)} steps, {100 * done // len(steps)} %" if steps else ""
    state = str(session.get("state"))
    status = state if state in ("failed", "cancelled") else str(plan.get("status"))
    goal = one_line(plan.get("goal", ""), 200)
    return f"{goal} (version {plan.get('version')}, {one_line(status.replace('_', ' '), 40)}{percent})"


def whole_plan_lines(
    plan: Mapping[str, Any], marks: Mapping[str, str] = MARKS, *, is_over: bool = False
) -> Iterator[str]:
    """`is_over`: the session has ended, so nobody works on the plan any more."""
    steps = [
        {**step, "status": "left"} if is_over and step.get("status") == "in_progress" else step
        for step in plan.get("steps") or []
    ]
    for step, line in zip(steps, plan_lines({**plan, "steps": steps}, marks), strict=True):
        yield str(line) + (" (not finished)" if line.status == "left" else "")
        if step.get("result"):
            yield f"       {one_line(step['result'], RESULT_LIMIT)}"
    for number, risk in enumerate(plan.get("risks") or []):
        yield f"{'risks: ' if number == 0 else '       '}{one_line(risk, DESCRIPTION_LIMIT)}"
