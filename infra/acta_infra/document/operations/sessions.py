"""Sessions: started, followed, spoken to, stopped; and the questions in them, with their decisions."""

from typing import get_args

from acta_engine.log.head import SessionState
from acta_engine.people.intervention import InterventionState
from acta_engine.people.shapes import CallInput, DecidedOfDeleted, Intervention
from acta_engine.plans import shapes as plans
from acta_engine.sessions import history_shapes as history
from acta_engine.sessions import shapes as sessions
from acta_engine.usage import receipt_shapes as receipts
from acta_infra.document.operations.operation import (
    NOTHING,
    Answer,
    Json,
    Operation,
    ok,
    page_of,
    searched_page_of,
)

CONTROLLED = Answer(
    202,
    "The session after it. A repeat of a request with an `Idempotency-Key` whose session was deleted meanwhile is "
    "answered with its id alone.",
    (sessions.Session, sessions.DeletedSession),
)
STARTS = ("RATE_LIMITED", "TOO_MANY_OPEN_SESSIONS")
"""Of what begins a run."""
STREAM: dict[str, Json] = {"text/event-stream": {}}

SESSIONS = {
    "POST /v1/sessions": Operation(
        "startSession",
        "Start a session",
        (
            Answer(
                202,
                "The session has begun; follow it at `Location`. A repeat whose session was deleted meanwhile is "
                "answered with its id alone.",
                (sessions.Session, sessions.DeletedSession),
                headers=("Location",),
            ),
        ),
        about="Gives an agent a goal and returns at once. Without `content` the session stays `idle` until somebody "
        "writes to it. Limits that are not named are the agent's, else the deployment's.",
        takes=("Idempotency-Key",),
        codes=STARTS,
        bodies={
            "goal": {"content": "Write a file notes.md with three facts about rivers."},
            "limits": {
                "content": "Summarise what the files say about costs.",
                "agent_id": "default",
                "max_steps": 20,
                "token_budget": 200000,
                "metadata": {"ticket": "OPS-42"},
                "visibility": "tenant",
            },
            "idle": {"metadata": {"ticket": "OPS-43"}},
        },
    ),
    "POST /v1/sessions/{session_id}/fork": Operation(
        "forkSession",
        "Fork a session",
        (
            Answer(
                202,
                "The fork; follow it at `Location`. A repeat whose fork was deleted meanwhile is answered with its id "
                "alone.",
                (sessions.ForkedSession, sessions.DeletedSession),
                headers=("Location",),
            ),
        ),
        about="A new session of yours that goes on from the end of a turn, with a copy of the conversation, the plan "
        "and the notes. Approvals, open calls and questions, and what was spent stay behind. Files are as they are "
        "now. The session itself is not changed, and may be deleted. Admins try versions of prompts with it "
        "(`prompts`): 403 for everybody else.",
        takes=("Idempotency-Key",),
        codes=STARTS,
        bodies={
            "another way": {"content": "Do it without the table.", "at": 12},
            "another agent": {"agent_id": "default", "max_steps": 10},
        },
    ),
    "GET /v1/sessions": Operation(
        "listSessions",
        "List sessions, newest first",
        (searched_page_of(sessions.Session, "Sessions that you may see."),),
        about="Sessions that are `idle`, at work or `waiting_for_user` are found by their state at once. Any other "
        "filter looks at a thousand sessions for a page, and while it finds nothing at ten thousand. A page without "
        "items and with a `next_cursor` says nothing of what came before `searched_to`: go on with the cursor.",
        parameters={
            "state": "Only sessions in this state.",
            "agent_id": "Only this agent's.",
            "created_by": "Only those that this person has started.",
            "metadata": "Only those with this pair, `name=value`. A name with `=` in it cannot be looked for.",
            "goal": "Only those with these words in the first 200 characters of their goal, in whatever case.",
            "goal_met": "Only completed sessions that met their goal, or that did not.",
        },
        values={"state": {"type": "string", "enum": list(get_args(SessionState))}},
    ),
    "GET /v1/sessions/{session_id}": Operation(
        "pollSession",
        "Read a session and follow it",
        (
            Answer(
                200,
                "The session as it is, and the events since `after`.",
                (sessions.Snapshot,),
                headers=("ETag",),
                sometimes=("Retry-After",),
            ),
            Answer(
                304, "Nothing has changed since the answer with this ETag.", form="empty", headers=("ETag",)
            ),
        ),
        about="The polling endpoint. Send the `cursor` of the last answer as `after`; with `wait` the answer comes "
        "when something happens, or after so many seconds. Then wait `poll_after_ms`, which is 0 where `wait` was a "
        "second or more and Acta is not under load, and ask again.",
        takes=("If-None-Match",),
        parameters={
            "after": "`cursor` of the last answer; `0`: from the start.",
            "wait": "Seconds to wait for something to happen. Under load, and where as many polls of the tenant "
            "wait as may, the answer comes earlier.",
        },
    ),
    "GET /v1/sessions/{session_id}/events": Operation(
        "streamEvents",
        "The same events as server-sent events",
        (
            Answer(
                200,
                "Server-sent events. The `data` of each is an Event as JSON, its `id` a cursor. The stream ends as "
                "soon as there are events: connect again.",
                form="raw",
                raw=STREAM,
            ),
        ),
        about="An event's id is the cursor after it, so a client that connects again with `Last-Event-ID` misses "
        "nothing. `retry:` says after how many milliseconds.",
        takes=("Last-Event-ID",),
        parameters={"after": "A cursor to begin after. `Last-Event-ID` wins over it."},
    ),
    "GET /v1/sessions/{session_id}/messages": Operation(
        "listMessages", "The conversation", (page_of(history.Message, "Messages, oldest first."),)
    ),
    "GET /v1/sessions/{session_id}/plan": Operation(
        "readPlan",
        "The plan and its versions",
        (ok(history.Plans, says="The plan as it is, and a page of its versions.", headers=("ETag",)),),
        about="The ETag names the version. Steps change their status within it.",
        codes=("PLAN_NOT_FOUND",),
    ),
    "PATCH /v1/sessions/{session_id}/plan": Operation(
        "editPlan",
        "Edit the plan",
        (
            Answer(
                200,
                "The plan's new version. A repeat of a request with an `Idempotency-Key` whose session was deleted "
                "meanwhile is answered with its id alone.",
                (plans.Plan, sessions.DeletedSession),
                sometimes=("ETag",),
            ),
        ),
        about="Adds, edits, skips and reorders pending steps: all operations, in their order, or none. Steps that run "
        "or are finished stay. The agent is told as by a message: its next turn reads what you changed, and what it "
        "wrote before that neither changes the plan nor has an effect, unless somebody has approved the very call.",
        codes=("PLAN_NOT_FOUND", "PRECONDITION_FAILED", "PRECONDITION_REQUIRED"),
        takes=("Idempotency-Key",),
        needs=("If-Match",),
        bodies={
            "edit": {
                "operations": [
                    {"op": "skip", "step_number": 2, "reason": "That file is not needed any more."},
                    {"op": "add", "description": "Check the sum by hand.", "before": 3},
                    {"op": "edit", "step_number": 3, "description": "Write sums.md, with the checked sum."},
                ],
                "comment": "The invoices of May are not final.",
            },
            "reorder": {"operations": [{"op": "reorder", "step_numbers": [3, 2, 4]}]},
        },
    ),
    "GET /v1/sessions/{session_id}/texts/{text_id}": Operation(
        "readText",
        "A long text, part by part",
        (ok(history.TextPart, says="A part of it."),),
        about="All of a result of which `/messages` has the beginning. Send `next_offset` as `offset` until it is "
        "null.",
        parameters={
            "text_id": "`whole.text_id` of a message.",
            "offset": "Bytes to leave out at its beginning.",
            "limit": "The most bytes of the part.",
        },
    ),
    "GET /v1/sessions/{session_id}/scratchpad": Operation(
        "readScratchpad", "The agent's notes", (ok(history.Scratchpad, says="The notes as they are."),)
    ),
    "GET /v1/sessions/{session_id}/steps": Operation(
        "listSteps",
        "The step log: every model call, tool call and decision, with its cost",
        (page_of(history.Step, "Rows of the step log, oldest first."),),
    ),
    "GET /v1/sessions/{session_id}/trace": Operation(
        "readTrace",
        "The reasoning: thought, action, input, observation",
        (
            Answer(
                200,
                "Rows, oldest first.",
                (history.TraceRow,),
                form="page",
                beside={
                    "answer": {
                        "type": ["string", "null"],
                        "description": "With `include=answer`: the run's whole answer, up to 500,000 characters; null: "
                        "it has none.",
                    }
                },
            ),
        ),
        parameters={
            "include": "`answer`: the run's whole answer beside the rows. `results`: as observation all of a result "
            "that was too long for the model. Both, with a comma between."
        },
    ),
    "GET /v1/sessions/{session_id}/receipt": Operation(
        "readReceipt",
        "What it has cost, up to its last commit",
        (ok(receipts.Receipt, says="The receipt."),),
        about="Counts, tokens and what models cost are exact. What AWS asks is an estimate from the counts.",
    ),
    "PATCH /v1/sessions/{session_id}": Operation(
        "changeLimits",
        "Raise or lower limits",
        (CONTROLLED,),
        about="Of the run at work, and of those that follow: `limits` of the answer shows them, also of a session that "
        "is over. Absent or null: as it was; a limit cannot be removed. Above the caps: 403, of an admin 400. A limit "
        "that is used up already is refused. A run that waits for tokens goes on at once with a higher budget. Where a "
        "question about the budget is open, decide it with `raise` instead.",
        takes=("Idempotency-Key",),
        bodies={"limits": {"max_steps": 80, "token_budget": 400000}},
    ),
    "POST /v1/sessions/{session_id}/messages": Operation(
        "postMessage",
        "Say something",
        (CONTROLLED,),
        about="Answers the agent's open question, else is read in its next turn; after a run has ended it begins the "
        "next one.",
        codes=STARTS,
        takes=("Idempotency-Key",),
        bodies={"message": {"content": "Name the longest river, too."}},
    ),
    "POST /v1/sessions/{session_id}/pause": Operation(
        "pauseSession",
        "Pause",
        (CONTROLLED,),
        about="Nothing new begins until it is resumed. What runs already is kept. Twice is as good as once.",
        takes=("Idempotency-Key",),
    ),
    "POST /v1/sessions/{session_id}/resume": Operation(
        "resumeSession",
        "Resume",
        (CONTROLLED,),
        about="Ends a pause or an open review, or tries again at once what the session waits for.",
        takes=("Idempotency-Key",),
    ),
    "POST /v1/sessions/{session_id}/cancel": Operation(
        "cancelSession",
        "Cancel",
        (
            Answer(
                202,
                "The session after it. Of somebody else's private session an admin is told the state alone.",
                (sessions.CancelledSession, sessions.HiddenSession, sessions.DeletedSession),
            ),
        ),
        about="Ends the run. No call begins after the answer. Cancelling twice is 202 twice.",
        takes=("Idempotency-Key",),
    ),
    "DELETE /v1/sessions/{session_id}": Operation(
        "deleteSession",
        "Delete",
        (NOTHING,),
        about="Cancels it if it runs, then erases everything that was stored of it.",
        codes=("CONFLICT",),
    ),
}

STATES: list[str] = [*get_args(InterventionState), "all"]
INTERVENTIONS = {
    "GET /v1/interventions": Operation(
        "listInterventions",
        "What waits, or waited, for people",
        (searched_page_of(Intervention, "Newest first; of sessions that you may see."),),
        parameters={"state": "Only those in this state."},
        values={"state": {"type": "string", "enum": STATES}},
    ),
    "GET /v1/sessions/{session_id}/interventions": Operation(
        "listInterventionsOfSession",
        "What waits for people in a session, and what was decided",
        (searched_page_of(Intervention, "Pending ones oldest first, others newest first."),),
        parameters={"state": "Only those in this state."},
        values={"state": {"type": "string", "enum": STATES}},
    ),
    "GET /v1/sessions/{session_id}/interventions/{intervention_id}": Operation(
        "readIntervention",
        "One question",
        (ok(Intervention, says="The question, and its decision where there is one."),),
    ),
    "GET /v1/sessions/{session_id}/interventions/{intervention_id}/input": Operation(
        "readCallInput",
        "The whole input of the call that is decided on",
        (ok(CallInput, says="The input as it would run."),),
        parameters={"call_id": "Which call of a review; needed where it has more than one."},
    ),
    "POST /v1/sessions/{session_id}/interventions/{intervention_id}/resolve": Operation(
        "resolveIntervention",
        "Decide",
        (
            ok(
                Intervention,
                DecidedOfDeleted,
                says="The decision. A repeat whose session was deleted meanwhile is answered with the ids alone.",
            ),
        ),
        about="One of the intervention's `options`. Some take an `input`: `modify` the tool's whole input, `answer` "
        "`{text}`, `record` `{result}`, `raise` `{token_budget?, cost_budget_usd?}`, `retry` `{hint?}`. A second or "
        "late decision is 409 with the recorded one.",
        codes=("APPROVER_MUST_DIFFER",),
        takes=("Idempotency-Key",),
        bodies={
            "approve": {"option": "approve", "comment": "It is a copy."},
            "reject": {"option": "reject", "comment": "Move it to archive/ instead."},
        },
    ),
}
