"""`acta interventions` lists what waits for a person; `acta approve`, `reject`, `raise`, `finish`, `resolve` and
`answer` decide it.

An intervention is shown either whole, as a person must see it to decide, or as one line of a list. With it stand the
commands that decide it, ready to be typed, and who may type them.
"""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import Invocation, connect, session_named
from acta.cli.exit_codes import CliError
from acta.cli.terminal.session_lines import state_words
from acta.cli.terminal.text import (
    Screen,
    cli_error,
    counted,
    exact_json,
    note,
    one_line,
    quoted,
    show,
    visible,
)
from acta.client.api import Client
from acta.client.errors import NotFoundError
from acta.client.following import (
    MAX_SEARCHED,
    PAGE_SIZE,
    has_ended,
    is_intervention_id,
    open_interventions,
    waits_for_tokens,
)
from acta.client.sign_in.oidc import claims_of
from acta.engine.untrusted.exact_json import InvalidJson, parse_object

MAX_ASKING = 5
"""How many sessions of a tree that ask something are named."""


def interventions(arguments: Namespace) -> int:
    """Lists the interventions of all sessions of the tenant, with whose session it is if it is somebody else's."""
    client = connect(arguments)
    waiting = list(client.interventions(state="pending"))
    now = datetime.now(UTC)

    def lines() -> Iterator[str]:
        asking = islice(client.sessions(state="waiting_for_user"), MAX_SEARCHED) if waiting else ()
        owners = {one["session_id"]: of_other(client, one) for one in asking}
        for one in waiting:
            yield list_line(one, now, owners.get(one["session_id"], ""))

    show(waiting, lines(), as_json=arguments.json)
    if arguments.json:
        return exit_codes.OK
    if not waiting:
        note("nothing waits for a person")
        return exit_codes.OK
    invocation = Invocation.from_arguments(arguments)
    pauses = [is_pause(one) for one in waiting]
    if not all(pauses):
        decide, watch = invocation.line("approve", "ID"), invocation.line("watch", "SESSION")
        note(f"decide with {decide} (or reject, answer, resolve); what fits: {watch}")
    if any(pauses):
        note(f"continue what is paused with {invocation.line('resume', 'SESSION')}")
    return exit_codes.OK


def decide(arguments: Namespace) -> int:
    """`arguments.id` is the id of a session or of an intervention."""
    given = option_input(arguments)
    client = connect(arguments)
    intervention_id = arguments.intervention
    if intervention_id is None and is_intervention_id(arguments.id):
        session_id, intervention_id = session_of(client, arguments.id), arguments.id
    else:
        arguments.id = session_id = session_named(client, arguments.id)
    if arguments.option == "approve" and not arguments.json:
        tell_unread(client, session_id)
    for each in [intervention_id] if intervention_id else fitting(client, arguments):
        decided = client.decide(
            session_id, each, arguments.option, input=given or None, comment=arguments.comment or None
        )
        show(decided, [f"{each}  {arguments.option}"], as_json=arguments.json)
    if arguments.option == "raise":
        for limit, needed in needed_limits(decided).items():
            if given.get(limit, needed) < needed:
                note(
                    f"acta: the next call needs {LIMITS[limit]} {needed} at full length: with {given[limit]} it is cut "
                    "short, or asked about again"
                )
    return exit_codes.OK


def tell_unread(client: Client, session_id: str) -> None:
    """Says how many messages the agent has not read: one of them may be about the call that is approved."""
    try:
        unread = client.session(session_id).get("unread")
    except NotFoundError:  # somebody's private session, of which the caller may only decide
        return
    if unread:
        note(
            f"acta: the agent has not read {counted(unread, 'message')} yet, and reads it after what you approve now"
        )


def answer(arguments: Namespace) -> int:
    """Sends the text as a message, which answers an open question of the session, or as an intervention's decision.

    Raises CliError if the session waits for something else, because the message would only wait, too. Raises it also if
    the session has ended: a message to it would begin another run.
    """
    client = connect(arguments)
    if is_intervention_id(arguments.id):
        given = {"text": arguments.text}
        decided = client.decide(session_of(client, arguments.id), arguments.id, "answer", input=given)
        return show(decided, [f"{arguments.id}  answer"], as_json=arguments.json)
    arguments.id = session_named(client, arguments.id)
    now = client.session(arguments.id)
    waiting = open_interventions(now)
    if waiting and not any("answer" in (one.get("options") or []) for one in waiting):
        raise CliError(f"session {arguments.id} has nothing open to answer{open_instead(arguments, waiting)}")
    if has_ended(now):
        line = Invocation.from_arguments(arguments).line("say", arguments.id, arguments.text)
        raise CliError(f"session {arguments.id} is {state_words(now)} and asks nothing; to go on: {line}")
    below = [] if waiting else asked_below(arguments, client, now, "answer")
    if below:
        raise CliError(
            "\n  ".join([f"session {arguments.id} asks nothing, but sessions below it do:", *below])
        )
    session = client.say(arguments.id, arguments.text)
    return show(session, [f"{arguments.id}  {state_words(session)}"], as_json=arguments.json)


def option_input(arguments: Namespace) -> dict[str, Any]:
    """The input of the option: the limits of `acta raise`, or the object of --input. For `modify` that is the whole new
    input of the call.
    """
    limits = {name: getattr(arguments, name, None) for name in LIMITS}
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    if arguments.option == "raise" and hasattr(arguments, "token_budget") and not given:
        raise CliError("raise needs --token-budget N or --cost-budget USD")
    if getattr(arguments, "input", None) is None:
        return given
    with cli_error(InvalidJson, words='--input is {}. Such as: \'{"result": "it was sent"}\''):
        typed = parse_object(arguments.input)
    return {"input": typed} if arguments.option == "modify" else typed


def session_of(client: Client, intervention_id: str) -> str:
    """The id of the intervention's session. Raises CliError if none is found.

    The newest `MAX_SEARCHED` closed ones are searched, too: a decision on one of them is refused, and the refusal says
    what was decided.
    """
    waiting, newest = client.interventions(state="pending"), client.interventions(limit=PAGE_SIZE)
    for one in chain(waiting, islice(newest, MAX_SEARCHED)):
        if one["intervention_id"] == intervention_id:
            return one["session_id"]
    raise CliError(
        f"nothing that waits for a person has the id {one_line(intervention_id)}, and none of the last "
        f"{MAX_SEARCHED} that were asked; if it is an older one, name its session before it"
    )


def fitting(client: Client, arguments: Namespace) -> list[str]:
    """The ids of the open interventions that have the option: of one, or of several with `--all`. Raises CliError if
    there are none, or several without `--all`.
    """
    session_id, option = arguments.id, arguments.option
    waiting: Sequence[Mapping[str, Any]]
    session: Mapping[str, Any] = {}
    try:
        session = client.session(session_id)
        waiting = open_interventions(session)
    except NotFoundError:  # a private session that the caller cannot read: what the caller's role may decide
        waiting = list(client.interventions(session_id))
    found = [one for one in waiting if option in (one.get("options") or [])]
    may_be_all = getattr(arguments, "all", None)
    if len(found) > 1 and not may_be_all:
        ways = ", or --all" if may_be_all is False else ""
        named = [
            f"{one_line(one['intervention_id'])}  {kind_of(one)}  {subject(one)}".rstrip() for one in found
        ]
        raise CliError("\n  ".join([f"several are open, name one of them{ways}:", *named]))
    if not found:
        instead = open_instead(arguments, waiting)
        ended = f"is {state_words(session)} and " if has_ended(session) else ""
        if below := [] if waiting else asked_below(arguments, client, session, option):
            instead = "\n  ".join(["; sessions below it ask:", *below])
        elif option == "raise" and not waiting:
            line = Invocation.from_arguments(arguments).line("limits", session_id, "--token-budget", "N")
            instead = f"; to give it more without a question: {line}"
        raise CliError(
            f"session {session_id} {ended}has nothing open that {one_line(option)} decides{instead}"
        )
    return [str(one["intervention_id"]) for one in found]


def open_instead(arguments: Namespace, waiting: Sequence[Mapping[str, Any]]) -> str:
    """The end of an error message: what else is open and which commands decide it; empty if nothing is open."""
    if not waiting:
        return ""
    invocation = Invocation.from_arguments(arguments)
    kinds = ", ".join(map(kind_of, waiting))
    lines = (line for one in waiting for line in deciding_lines(invocation, arguments.id, one))
    return "\n  ".join([f"; open: {kinds}; decide with one of:", *lines])


def asked_below(arguments: Namespace, client: Client, session: Mapping[str, Any], option: str) -> list[str]:
    """What sessions below this one ask, each with the commands that decide it: of those with this option that one."""
    if not (session.get("children") or {}).get("at_work"):
        return []
    invocation, lines = Invocation.from_arguments(arguments), list[str]()
    nodes = islice(client.tree(session["session_id"]), MAX_SEARCHED)
    asking = [node for node in nodes if node["depth"] and node["questions"]]
    for node in asking[:MAX_ASKING]:
        about = f" ({one_line(node.get('about'))})" if node.get("about") else ""
        for one in client.interventions(node["session_id"]):
            lines.append(f"{one_line(node['agent_name'])}{about}: {kind_of(one)}  {subject(one)}".rstrip())
            options = [option] if option in one["options"] else one["options"]
            deciding = deciding_lines(invocation, node["session_id"], {**one, "options": options})
            lines += [f"  {line}" for line in deciding]
    if len(asking) > MAX_ASKING:
        lines.append(f"and {len(asking) - MAX_ASKING} more: {invocation.line('interventions')}")
    return lines


TITLES = {
    "approval_required": "The agent asks for permission.",
    "clarification_needed": "The agent needs to know something.",
    "error_recovery": "The agent is stuck.",
    "doubt": "Nobody knows whether a call has happened.",
    "outage": "The work stands still.",
    "restored_to": "The session was restored to an earlier time.",
    "checkpoint_review": "The session pauses for a review.",
    "budget_exceeded": "The session's budget is used up.",
}
SPEAKERS = {"agent": "the agent asks", "acta": "Acta says", "person": "a person says"}
MAX_LABEL = 64
"""The length of the longest name that a tool may have."""
SUBJECT_CHARS = 100
SPANS = ((86_400, "d"), (3_600, "h"), (60, "m"))
DEFAULT_SCREEN = Screen()


def question_lines(intervention: Mapping[str, Any], screen: Screen = DEFAULT_SCREEN) -> Iterator[str]:
    """All that a person must see to decide: whose words are whose, and the whole exact input of each tool call.

    Text that is not Acta's is quoted, so that no row of it passes for one of Acta's own. The calls that the decision is
    about are named again at the end, below all quoted text.
    """
    kind, context = str(intervention.get("type", "")), dict(intervention.get("context") or {})
    if kind == "error_recovery":
        marked = next((mark for mark in ("outage", "restored_to") if mark in context), kind)
        kind = "doubt" if intervention.get("tool_call") else marked
    if is_pause(intervention):  # nobody asks anything
        yield f"The session is {subject(intervention)}."
        context = {}
    else:
        yield TITLES.get(kind, f"The session waits: {visible(kind, keep_newlines=False)}")
    for asker in intervention.get("chain") or ():
        yield f"for {one_line(asker.get('agent_name'), MAX_LABEL)} ({one_line(asker.get('session_id'), MAX_LABEL)}):"
        yield from quoted(str(asker.get("goal") or "(private)"), screen)
    asked_by = SPEAKERS.get(str(context.pop("asked_by", "")), "question")
    labels = {"question": asked_by, "agent_said": "the agent says"}
    calls = context.pop("calls", None) or []
    context.pop("reason", None)  # a code, which the question says in words
    for name, value in context.items():
        if value is None or value is False:
            continue
        text = visible(value) if isinstance(value, str) else exact_json(value)
        label = labels.get(str(name)) or one_line(str(name), MAX_LABEL)
        yield "\n".join([f"{label}:", *quoted(text, screen)])
    decided_on = [call for call in [intervention.get("tool_call"), *calls] if isinstance(call, dict)]
    for call in decided_on:
        yield f"tool: {one_line(call.get('name'), MAX_LABEL)}"
        given = call.get("input")
        shown = exact_json(given)
        has_escapes = shown != json.dumps(given, indent=2, ensure_ascii=False)
        label = "input, with escapes for characters that cannot be seen:" if has_escapes else "input:"
        yield "\n".join([label, *quoted(shown, screen)])
    roles = needed_roles(intervention)
    if roles:
        named = visible(" and ".join(roles), keep_newlines=False)
        yield f"to decide needs the role{'s' if len(roles) > 1 else ''}: {named}"
    if intervention.get("approver_must_differ"):
        yield "who asked for this may not let it run: somebody else decides"
    if intervention.get("timeout_at"):
        default = visible(str(intervention.get("default_action")), keep_newlines=False)
        yield f"without an answer until {intervention['timeout_at']}: {default}"
    for call in decided_on:
        bound = f", input {one_line(call['input_hash'], MAX_LABEL)}" if call.get("input_hash") else ""
        yield f"to decide on: {one_line(call.get('name'), MAX_LABEL)}{bound}"


def list_line(one: Mapping[str, Any], now: datetime, owner: str = "") -> str:
    """Ids, type, age, expiry, `owner`, the deciding role if one is named, the agent and for which ones it asks, and the
    subject.
    """
    ids = "  ".join(one_line(one.get(name) or "") for name in ("intervention_id", "session_id"))
    when = f"{age(one.get('created_at'), now):>7}  {expiry(one, now):<18}"
    roles = needed_roles(one)
    role = f"needs {one_line(' and '.join(roles), MAX_LABEL)}  " if roles else ""
    names = [each["agent_name"] for each in (one, *reversed(one["chain"]))]
    agent = " for ".join(one_line(name, MAX_LABEL) for name in names)
    return f"{ids}  {kind_of(one):<20}  {when}  {owner}{role}{agent}  {subject(one)}".rstrip()


def of_other(client: Client, session: Mapping[str, Any]) -> str:
    """Whose the session is, as a part of a line; empty if it is the caller's own."""
    owner = session.get("created_by")
    is_own = owner in (None, claims_of(client.deployment.token).get("sub"))
    return "" if is_own else f"of {one_line(owner, MAX_LABEL)}  "


def needed_roles(one: Mapping[str, Any]) -> list[str]:
    """All of which whoever decides needs."""
    return [str(role) for role in (one.get("role"), *(one.get("also_roles") or ())) if role]


def kind_of(one: Mapping[str, Any]) -> str:
    return "paused" if is_pause(one) else one_line(str(one.get("type", "")).replace("_", " "))


def is_pause(one: Mapping[str, Any]) -> bool:
    """Whether a person paused the session, so that nothing is asked."""
    context = one.get("context") or {}
    return one.get("type") == "checkpoint_review" and context.get("asked_by") == "person"


def subject(one: Mapping[str, Any]) -> str:
    """The tool call to decide on if there is one, else the question; both for a call of unknown outcome."""
    call, context = one.get("tool_call"), one.get("context") or {}
    if is_pause(one):
        return f"paused by {one_line(context.get('requested_by') or 'a person')}"
    asked = one_line(context.get("question") or context, SUBJECT_CHARS) if context else ""
    if not call:
        return asked
    shown = one_line(f"{call.get('name')} {json.dumps(call.get('input'), ensure_ascii=False)}", SUBJECT_CHARS)
    return f"{asked}  {shown}" if one.get("type") == "error_recovery" and asked else shown


def age(created_at: Any, now: datetime) -> str:
    at = instant(created_at)
    return "" if at is None else span((now - at).total_seconds())


def expiry(one: Mapping[str, Any], now: datetime) -> str:
    """Which option is taken without a decision, and when."""
    at = instant(one.get("timeout_at"))
    if at is None:
        return "waits for ever"
    left = (at - now).total_seconds()
    default = one_line(one.get("default_action") or "", 20)
    return f"{default} in {span(left)}" if left > 0 else f"{default} now"


def span(seconds: float) -> str:
    """A time span in its largest unit, rounded down: `2h`."""
    for size, unit in SPANS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def instant(text: Any) -> datetime | None:
    """The time that an RFC 3339 text names; None for anything else."""
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")) if text else None
    except ValueError:
        return None


MAX_TYPED = 1_000
"""The longest input of a call that a command repeats, to be edited."""
LIMITS = {"token_budget": "--token-budget", "cost_budget_usd": "--cost-budget"}
"""The limits that `raise` takes, and their options on the command line."""


def deciding_lines(invocation: Invocation, session_id: str, intervention: Mapping[str, Any]) -> Iterator[str]:
    """One command for each option of the intervention. The person replaces the capitals in it."""
    identity, call = str(intervention.get("intervention_id")), intervention.get("tool_call")
    for option in map(str, intervention.get("options") or []):
        words = ["resolve", session_id, identity, option]
        match option:
            case "approve" | "reject" | "finish":
                words = [option, session_id, identity]
            case "answer":
                words = [option, session_id, "TEXT"]
            case "raise":
                needed: Mapping[str, object] = needed_limits(intervention) or {"token_budget": "N"}
                given = (word for limit, value in needed.items() for word in (LIMITS[limit], str(value)))
                words = [option, session_id, identity, *given]
            case "modify":
                words += ["--input", typed_input(call or {})]
            case "record":
                words += ["--input", '{"result": "TEXT"}']
            case "retry" if not call:
                words += ["--input", '{"hint": "TEXT"}']
        yield invocation.line(*words)


def typed_input(call: Mapping[str, Any]) -> str:
    """The call's present input as a person may edit it; `JSON` if it is not all known here, or too long to be typed."""
    text = visible(json.dumps(call.get("input") or {}, ensure_ascii=False), exact=True)
    return "JSON" if call.get("shortened") or len(text) > MAX_TYPED else text


def token_lines(invocation: Invocation, session: Mapping[str, Any]) -> Iterator[str]:
    """What a session that waits for tokens needs, and the command that lets it go on. No lines if it waits for none."""
    if not waits_for_tokens(session):
        return
    budget, needed = session.get("budget") or {}, (session.get("cause") or {}).get("token_budget_needed")
    if needed and budget:
        more = f"{needed - budget['tokens_used']:,} tokens, and {budget['tokens_left']:,} of {budget['token_budget']:,}"
        yield f"the next turn needs {more} are left"
    amount = str(needed or "N")
    yield f"to go on now: {invocation.line('limits', str(session['session_id']), '--token-budget', amount)}"


def needed_limits(intervention: Mapping[str, Any]) -> dict[str, float]:
    """The limits that are too low for the next call, each with what the call needs. Empty if that is not known."""
    context = intervention.get("context") or {}
    known = {limit: context.get(f"{limit}_needed") for limit in LIMITS}
    return {limit: needed for limit, needed in known.items() if isinstance(needed, int | float)}


def lacks_role(client: Client, intervention: Mapping[str, Any]) -> bool:
    """Whether the client's token is known not to have the role that the intervention needs.

    This is known only for a token of the local stack. For other tokens the identity provider chooses the claim that
    holds the roles; there the deployment's answer shows it.
    """
    needed, roles = needed_roles(intervention), local_claims(client).get("roles")
    if isinstance(roles, str):  # the local issuer writes a list, or a list as a JSON text
        try:
            roles = json.loads(roles)
        except ValueError:
            return False
    if not isinstance(roles, list):
        return False
    return any(role not in roles and not (role == "member" and "admin" in roles) for role in needed)


def role_lines(
    client: Client, invocation: Invocation, session_id: str, intervention: Mapping[str, Any]
) -> Iterator[str]:
    """Who may decide, and how; on the local stack also how to get a token with the role."""
    roles = needed_roles(intervention)
    other = " who has not asked for it" if intervention.get("approver_must_differ") else ""
    words = f"role{'s' if len(roles) > 1 else ''} {visible(' and '.join(roles), keep_newlines=False)}"
    shown = f" with the {words}" if roles else ""
    if not roles and not other:
        yield "your token does not allow this decision; with another token, decide with one of:"
    else:
        yield f"only somebody{shown}{other} decides this; with a token of theirs, decide with one of:"
    options = invocation.options
    given = options if "--token" in options else (*options, "--token", "TOKEN")
    for line in deciding_lines(Invocation(invocation.program, given), session_id, intervention):
        yield f"  {line}"
    tenant = local_claims(client).get("tenant")
    if roles and tenant:
        at = options.index("--state") if "--state" in options else len(options)
        issuing = Invocation(invocation.program, options[at : at + 2])
        yield f"a token of the local stack with {'those roles' if len(roles) > 1 else 'that role'}:"
        wanted = [part for role in roles for part in ("--role", role)]
        yield f"  {issuing.line('token', '--tenant', str(tenant), '--user', 'USER', *wanted)}"


def local_claims(client: Client) -> Mapping[str, Any]:
    """The claims of the token if the local stack issued it: its issuer is then the API's own URL. Else empty."""
    claims = claims_of(client.deployment.token)
    return claims if claims.get("iss") == client.url else {}
