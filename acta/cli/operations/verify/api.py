"""Checks that ask the API as any client does: what needs no session first, then two sessions and what they leave."""

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice, pairwise
from statistics import median
from typing import Any

import httpx2

from acta.cli.operations.verify.aws import logged
from acta.cli.operations.verify.checks import CheckFailed, CheckUnanswered, Figures, Verified
from acta.client.deployment import is_loopback
from acta.client.errors import ClientError
from acta.client.following import has_ended, needs_a_person
from acta.client.sign_in.stored_tokens import StoredTokens

TOKENS = 60_000
"""The token budget of each session that a check starts."""
TURNS = 8
SESSION_SECONDS = 300
LONG_POLL_SECONDS = 20
MINUTE = timedelta(minutes=1)
MCP_HEADERS = "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name"
FILE = "~/acta-verify.txt"
"""A private file of whoever runs the checks. The goal is to read it."""
LARGE_FILE = "~/acta-verify-large.txt"
LARGEST_FILE = 4_194_304
"""Bytes, unless the environment's settings say less (`max_file_bytes`)."""
NOTIFIED = ("notified", "not delivered", "notification refused")
"""What the function notify logs of a notification. The first is the one that went well."""


def answers_without_a_token(deployed: Verified) -> Figures:
    answer, milliseconds = asked(deployed, "GET", "/healthz")
    if answer.status_code != 200:
        raise CheckFailed(
            "The API does not answer /healthz: is its address another one since the last `acta login`?",
            status=answer.status_code,
        )
    return {"milliseconds": milliseconds}


def refuses_bad_tokens(deployed: Verified) -> Figures:
    """Without a token, and with the signed-in person's token whose signature is changed."""
    good = deployed.api.deployment.tokens.token()
    head, _, signature = good.rpartition(".")
    forged = f"{head}.{signature[::-1]}"
    for name, headers in (("none", {}), ("forged", {"Authorization": f"Bearer {forged}"})):
        answer, _ = asked(deployed, "GET", "/v1/sessions", headers)
        if answer.status_code != 401:
            raise CheckFailed(
                "The gateway does not refuse a request without a good token: close the API and send us this report.",
                token=name,
                status=answer.status_code,
            )
    return {"requests": 2}


def refuses_made_up_urls(deployed: Verified) -> Figures:
    """A URL that nobody has signed is not found. The function has to read its key to know that."""
    answer, _ = asked(deployed, "POST", "/v1/hooks/WyJob29rcyJd.AAAA")
    if answer.status_code == 503:
        raise CheckFailed(
            "The function `wake` cannot read the key of signed URLs: is the secret acta/<env>/wake there? Run `acta "
            "deploy`.",
            status=503,
        )
    if answer.status_code != 404:
        raise CheckFailed(
            "A URL that nobody has signed is not refused: send us this report.", status=answer.status_code
        )
    return {"requests": 1}


def browsers_may_call_mcp(deployed: Verified) -> Figures:
    """The question that a browser asks the gateway before a page's first request."""
    origins = deployed.environment.cors_origins
    if not origins:
        raise CheckUnanswered("This environment lets no page of another origin call the API (cors_origins).")
    origin = "https://example.com" if origins == ("*",) else origins[0]
    asks = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": MCP_HEADERS,
    }
    answer, _ = asked(deployed, "OPTIONS", "/mcp", asks)
    allowed = answer.headers.get("access-control-allow-headers", "").lower().replace(" ", "").split(",")
    missing = [
        each for each in MCP_HEADERS.split(",") if each not in allowed
    ]  # a `*` does not stand for authorization
    if answer.status_code >= 300 or "access-control-allow-origin" not in answer.headers or missing:
        raise CheckFailed(
            "The gateway would make a browser stop an MCP client of an allowed page: run `acta deploy`.",
            status=answer.status_code,
            missing=len(missing),
        )
    return {"headers": len(allowed)}


def asked(
    deployed: Verified, method: str, path: str, headers: Mapping[str, str] | None = None
) -> tuple[httpx2.Response, float]:
    """The answer to a request without a token of its own, and how many milliseconds it took."""
    url = deployed.outputs["ApiUrl"] if deployed.client is None else deployed.client.url
    begun = deployed.clock()
    try:
        answer = httpx2.request(
            method, f"{url}{path}", headers=dict(headers or {}), timeout=40, trust_env=not is_loopback(url)
        )
    except httpx2.HTTPError:
        raise CheckFailed("The API does not answer: is there a way to it from this machine?") from None
    return answer, round((deployed.clock() - begun) * 1_000)


def people_sign_in(deployed: Verified) -> Figures:
    """The API takes the token of the sign-in, and the issuer renews it."""
    me = deployed.api.me()
    tokens = deployed.api.deployment.tokens
    if not isinstance(tokens, StoredTokens):
        raise CheckUnanswered(
            "A token was given by hand: run `acta login --env NAME`, and this command with --env alone.",
            roles=len(me["roles"]),
        )
    try:
        tokens.renewed(tokens.token())
    except ClientError:
        raise CheckFailed(
            "The issuer does not renew a sign-in. If it is older than the pool allows, run `acta login --env NAME` "
            "and try again."
        ) from None
    deployed.api.me()
    return {"roles": len(me["roles"])}


def keys_work(deployed: Verified) -> Figures:
    """Each provider is asked whether it takes its key; that costs nothing."""
    states = [each["status"] for each in deployed.api.check_models()["providers"]]
    figures = {
        f"{state}": states.count(state)
        for state in ("works", "refused", "missing", "unreachable", "unchecked")
    }
    if "works" not in states and "unchecked" in states:
        raise CheckUnanswered("The models here have no key that a provider could be asked about.", **figures)
    if "works" not in states:
        raise CheckFailed(
            "No model's provider takes its key: `acta models --check`, and docs/models.md.", **figures
        )
    return figures


def files_are_kept(deployed: Verified) -> Figures:
    """A private file is written, read and listed. It is the one that the sessions read, and is deleted at the end."""
    deployed.canary = f"acta-verify-{secrets.token_hex(8)}"
    content = f"{deployed.canary}\n".encode()
    write_and_read(deployed, FILE, content)
    if FILE not in [each["path"] for each in deployed.api.files.list("~/")]:
        raise CheckFailed("A file is not listed: send us this report.")
    return {"bytes": len(content)}


def large_files_pass(deployed: Verified) -> Figures:
    """A file of the largest size that Acta takes, which in base64 is just below what Lambda passes on."""
    content = secrets.token_bytes(int(deployed.environment.settings.get("max_file_bytes", LARGEST_FILE)))
    begun = deployed.clock()
    write_and_read(deployed, LARGE_FILE, content)
    return {"bytes": len(content), "seconds": deployed.seconds_since(begun)}


def write_and_read(deployed: Verified, path: str, content: bytes) -> None:
    deployed.written.append(path)
    deployed.api.files.write(path, content)
    if deployed.api.files.read(path) != content:
        raise CheckFailed("A file is not what was written: send us this report.")


def session_ends(deployed: Verified) -> Figures:
    with suppress(ClientError):  # the check of usage says what is wrong with it
        deployed.tokens_before = tokens_counted(deployed)
    begun = deployed.clock()
    session = ended(deployed, start(deployed))
    deployed.worked = session
    return {
        "seconds": deployed.seconds_since(begun),
        "turns": session["run"]["iteration"],
        "tokens": session["usage"]["total_tokens"],
        "model_usd": session["usage"]["cost_usd"] or 0,
        "goal_met": str(bool((session["result"] or {}).get("goal_met"))).lower(),
    }


def start(deployed: Verified, **more: Any) -> str:
    """The id of a new private session with limits, which is to read the file."""
    if not deployed.canary:
        files_are_kept(deployed)
    session = deployed.api.start(
        f"Read the file {FILE}",
        max_steps=TURNS,
        token_budget=TOKENS,
        visibility="private",
        metadata={"started-by": "acta verify"},
        **more,
    )
    deployed.started.append(session["session_id"])
    return session["session_id"]


def ended(deployed: Verified, session_id: str) -> Mapping[str, Any]:
    """The session once it is completed."""
    slow = CheckFailed("A session does not come to its end: `acta logs last --env NAME` tells its story.")
    session = snapshot(deployed, session_id, lambda each: has_ended(each) or needs_a_person(each), slow)
    if session["state"] != "completed":
        error = session["error"] or {}
        raise CheckFailed(
            "A session failed or asks a person, instead of coming to its end: `acta logs last --env NAME`.",
            state=session["state"],
            reason=session["state_reason"],
            code=error.get("code", "none"),
        )
    return session


def snapshot(
    deployed: Verified, session_id: str, is_so: Callable[[Mapping[str, Any]], bool], unless: CheckFailed
) -> Mapping[str, Any]:
    """The session as soon as it is so."""

    def look() -> Mapping[str, Any] | None:
        session = deployed.api.session(session_id)
        return session if is_so(session) else None

    return deployed.until_found(SESSION_SECONDS, look, unless)


def of_ended(deployed: Verified) -> Mapping[str, Any]:
    if deployed.worked is None:
        raise CheckUnanswered(
            "The session that this check looks at, that of `session`, has not come to its end."
        )
    return deployed.worked


def turns_are_quick(deployed: Verified) -> Figures:
    """How long the model took in each turn, and how long everything else took between two steps of the session."""
    steps = [*deployed.api.steps(of_ended(deployed)["session_id"])]
    models = [each["duration_ms"] for each in steps if each["kind"] in ("plan", "llm")]
    times = [
        (datetime.fromisoformat(each["started_at"]), datetime.fromisoformat(each["completed_at"]))
        for each in steps
    ]
    between = [max(0.0, (after[0] - before[1]).total_seconds() * 1_000) for before, after in pairwise(times)]
    if not models or not between:
        raise CheckUnanswered("The session made a single step: nothing lies between two steps.")
    figures = {
        "steps": len(steps),
        "model_ms": round(median(models)),
        "between_ms": round(median(between)),
        "longest_between_ms": round(max(between)),
    }
    if median(between) > 3_000:
        raise CheckFailed(
            "The engine needs more than three seconds between two steps: send us this report.", **figures
        )
    return figures


def logs_tell_the_story(deployed: Verified) -> Figures:
    """The functions' lines of the session arrive, and none has what the session read and said."""
    session_id = of_ended(deployed)["session_id"]
    functions = deployed.environment.functions

    def look() -> set[str] | None:
        found = {line.function for line in logged(deployed, functions, session_id, MINUTE * 60)}
        return found if {"start", "step"} <= found else None

    late = CheckFailed("The functions' log lines of the session have not arrived within two minutes.")
    seen = deployed.until_found(120, look, late)
    content = logged(deployed, functions, deployed.canary, MINUTE * 60)
    if content:
        raise CheckFailed(
            "Log lines have a session's content: send us this report at once.", lines=len(content)
        )
    return {"functions": len(seen)}


def sessions_are_listed(deployed: Verified) -> Figures:
    session_id = of_ended(deployed)["session_id"]
    for looked, each in enumerate(islice(deployed.api.sessions(limit=20), 200), start=1):
        if each["session_id"] == session_id:
            return {"looked_at": looked}
    raise CheckFailed("A session that has ended is not in the list of sessions: send us this report.")


def usage_is_counted(deployed: Verified) -> Figures:
    """The table's stream reaches the function that counts."""
    used, begun, before = (
        of_ended(deployed)["usage"]["total_tokens"],
        deployed.clock(),
        deployed.tokens_before,
    )
    if before is None:
        raise CheckUnanswered(
            "The API did not say what was counted before the session: run this command again."
        )

    def look() -> bool | None:
        return True if tokens_counted(deployed) >= before + used else None

    late = CheckFailed("Usage is not counted within five minutes: docs/operations.md, Usage is behind.")
    deployed.until_found(SESSION_SECONDS, look, late)
    return {"seconds": deployed.seconds_since(begun)}


def tokens_counted(deployed: Verified) -> int:
    return int(deployed.api.usage()["total"]["tokens"]["total"])


def actions_are_recorded(deployed: Verified) -> Figures:
    session_id = of_ended(deployed)["session_id"]
    records = [*deployed.api.audit(session_id=session_id, limit=20)]
    if not any(each["action"] == "session.start" for each in records):
        raise CheckFailed(
            "The audit trail does not say who started a session: docs/operations.md, Who did what."
        )
    return {"records": len(records)}


def people_approve(deployed: Verified) -> Figures:
    """A session stops for a review, a long poll on it is held and answered, and a decision wakes the session at once,
    not by recovery's next round.
    """
    waiting = waiting_for_a_review(deployed)
    session_id = waiting["session_id"]
    page = {"cursor": "0", "has_more": True}
    while page["has_more"]:
        page = deployed.api.get(f"/v1/sessions/{session_id}", after=page["cursor"])
    begun = deployed.clock()
    deployed.api.get(f"/v1/sessions/{session_id}", after=page["cursor"], wait=LONG_POLL_SECONDS)
    held = deployed.seconds_since(begun)
    if held < LONG_POLL_SECONDS / 2:
        raise CheckFailed(
            "A long poll on a session that waits is answered early. Under load that is meant so (docs/scale.md); "
            "otherwise send us this report.",
            poll_seconds=held,
        )
    deployed.api.decide(session_id, waiting["interventions"][0]["intervention_id"], "continue")
    calls = waiting["usage"]["llm_calls"]
    asleep = CheckFailed("A decision does not wake its session: `acta doctor --repair --env NAME`.")
    snapshot(deployed, session_id, lambda each: has_ended(each) or each["usage"]["llm_calls"] > calls, asleep)
    steps = [*deployed.api.steps(session_id)]
    decided = next(number for number, each in enumerate(steps) if each["kind"] == "intervention")
    decision, *following = steps[decided:]
    if not following:
        raise CheckUnanswered("The session ended with the decision: nothing came after it.")
    woken = datetime.fromisoformat(following[0]["started_at"]) - datetime.fromisoformat(
        decision["completed_at"]
    )
    figures = {"poll_seconds": held, "wake_seconds": round(woken.total_seconds(), 1)}
    if woken > MINUTE / 2:
        raise CheckFailed("Recovery woke the session, and not the decision: send us this report.", **figures)
    return figures


def waiting_for_a_review(deployed: Verified) -> Mapping[str, Any]:
    """A new session that waits for a person."""
    session_id = start(deployed, review_every=1)
    slow = CheckFailed(
        "A session with a review after each turn does not ask for it: `acta logs last --env NAME`."
    )
    waiting = snapshot(deployed, session_id, lambda each: has_ended(each) or needs_a_person(each), slow)
    if has_ended(waiting):
        raise CheckUnanswered("The session ended before a review was due.", state=waiting["state"])
    return waiting


def people_are_notified(deployed: Verified) -> Figures:
    """The question of the session that stopped for a review is sent to whoever the environment names."""
    if not deployed.has("notifications"):
        raise CheckUnanswered("This environment notifies nobody.")
    if not deployed.started:
        raise CheckUnanswered("No session was started that could have asked anybody.")

    def look() -> list[str] | None:
        lines = [
            line for each in deployed.started for line in logged(deployed, ("notify",), each, MINUTE * 60)
        ]
        said = [str(line.fields.get("message")) for line in lines]
        return [each for each in said if each in NOTIFIED] or None

    late = CheckFailed(
        "No notification was tried within five minutes: docs/operations.md, Notifications do not arrive."
    )
    said = deployed.until_found(SESSION_SECONDS, look, late)
    sent = said.count(NOTIFIED[0])
    if not sent:
        raise CheckFailed(
            "The receiver of notifications does not take them: docs/operations.md, Notifications do not arrive."
        )
    return {"sent": sent, "not_taken": len(said) - sent}


def clean_up(deployed: Verified) -> list[str]:
    """Deletes the sessions that the checks started, which ends those that still run, and their files. Returns the
    sessions and files that could not be deleted. What AWS keeps stays.
    """
    deletions: list[tuple[str, Callable[[str], object]]] = [
        *((each, deployed.api.delete) for each in deployed.started),
        *((each, deployed.api.files.delete) for each in deployed.written),
    ]
    left = []
    for name, delete in deletions:
        try:
            delete(name)
        except ClientError:
            left.append(name)
    return left
