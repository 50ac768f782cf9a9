"""The table of operations: one row says all that is true of one method of one path.

The gateway's routes and authorizers, routing, the checks of roles, the actions in the audit trail and the OpenAPI
document are made from the rows. To add an operation: write its handler with the models of its body and its answer, and
add a row that names it.

A request that fits no row reaches the function `CATCH_ALL`, which answers 404 or 405 in the error envelope. Only that
function, `console` and `wake` can be reached without a token. Every function that answers HTTP reads this table when it
starts, so a row has only plain values: a shape is a name, which the document looks up.
"""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import quote

from acta.engine.api.operation import (
    NOTHING,
    UNCHANGED,
    AnswerSpec,
    Function,
    McpOffer,
    Operation,
    Schema,
    data,
    page,
    searched_page,
)
from acta.engine.errors import CallerError, NotFound

# fmt: off
# A row is laid out by hand: first what routing and the audit trail need, then words, then answers.
REPLACED = (
    "It has been replaced. If somebody else has changed it since you read it, the answer is 412 if you send its ETag "
    "as `If-Match`, and 409 if you send its version in the body."
)
STARTS = ("RATE_LIMITED", "TOO_MANY_OPEN_SESSIONS")
"""Errors of operations that begin a run."""
CONTROLLED = data(
    "Session", "DeletedSession",
    says="The session after the change. If the session was deleted meanwhile, a repeat with the same "
        "`Idempotency-Key` is answered with only its id.",
    status=202,
)
TEXT: Schema = {"type": "string"}
HTML: Mapping[str, Schema] = {"text/html; charset=utf-8": TEXT}
BYTES: Mapping[str, Schema] = {"application/octet-stream": {"type": "string", "format": "binary"}}
METADATA: Mapping[str, Schema] = {
    "application/json": {
        "type": "object",
        "properties": {
            "resource": TEXT,
            "authorization_servers": {"type": "array", "items": TEXT},
            "bearer_methods_supported": {"type": "array", "items": TEXT},
            "resource_name": TEXT,
        },
        "required": ["resource", "authorization_servers"],
    }
}
JSON_RPC_ID: Schema = {"type": ["string", "integer"]}
JSON_RPC_REQUEST: Schema = {
    "description": "A JSON-RPC 2.0 request or notification of MCP 2026-07-28, 2025-11-25 or 2025-06-18.",
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"}, "id": JSON_RPC_ID, "method": TEXT, "params": {"type": ["object", "null"]},
    },
    "required": ["jsonrpc", "method"],
}
JSON_RPC_ANSWER: Schema = {
    "description": "A JSON-RPC 2.0 response.",
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": JSON_RPC_ID,
        "result": {"type": "object"},
        "error": {
            "type": "object",
            "properties": {"code": {"type": "integer"}, "message": TEXT, "data": {}},
            "required": ["code", "message"],
        },
    },
    "required": ["jsonrpc"],
}
JSON_RPC_REFUSAL: Schema = {
    "description": "A JSON-RPC error, or an error of Acta's or of the gateway's.", "type": "object",
}

SESSIONS = (
    Operation(
        "startSession", "POST", "/v1/sessions", "start", "sessions.start_routes:start_session",
        action="session.start", recorded_request=("agent_id",),
        recorded_answer=("session_id", "agent_id", "visibility"), takes=("Idempotency-Key",), codes=STARTS,
        client="start",
        mcp=McpOffer(
            "start_session", "Start a session",
            "Starts a session: an agent works on the goal in `content` on its own, for minutes or days. The answer has "
            "`session_id`. Follow it with watch_session.",
        ),
        summary="Start a session",
        about="Gives an agent a goal and returns at once. Without `content` the session stays `idle` until "
            "somebody writes to it. For limits that you do not name, those of the agent apply, or else those of the "
            "deployment.",
        answers=(data(
            "Session", "DeletedSession",
            says="The session has begun; follow it at `Location`. If it was deleted meanwhile, a repeat is "
                "answered with only its id.",
            status=202, headers=("Location",),
        ),),
    ),
    Operation(
        "forkSession", "POST", "/v1/sessions/{session_id}/fork", "start", "sessions.start_routes:fork_session",
        action="session.fork", recorded_answer=("forked_from.session_id", "session_id", "agent_id", "visibility"),
        takes=("Idempotency-Key",), codes=STARTS, client="fork",
        summary="Fork a session",
        about="Creates a new session of yours that goes on from the end of a turn, with a copy of the "
            "conversation, the plan and the notes. It does not take over approvals, open calls, questions and "
            "costs. Files are as they are now. The original session does not change, and may be deleted. Admins "
            "may try versions of prompts (`prompts`); others get 403 for that.",
        answers=(data(
            "ForkedSession", "DeletedSession",
            says="The fork; follow it at `Location`. If it was deleted meanwhile, a repeat is answered with "
                "only its id.",
            status=202, headers=("Location",),
        ),),
    ),
    Operation(
        "listSessions", "GET", "/v1/sessions", "status", "sessions.routes:list_sessions",
        client="sessions", client_form="by hand",
        summary="List sessions, newest first",
        about="Sessions that are `idle`, at work or `waiting_for_user` are found directly by their state. With any "
            "other filter a request looks at a thousand sessions, and at up to ten thousand while it finds nothing. "
            "An empty page with a `next_cursor` means that nothing was found back to `searched_to`, and that older "
            "sessions were not looked at yet: go on with the cursor.",
        parameters={
            "state": "Only sessions in this state.",
            "agent_id": "Only sessions of this agent.",
            "created_by": "Only sessions that this person has started.",
            "metadata": "Only sessions with this pair, `name=value`. A name with `=` in it cannot be searched for.",
            "goal": "Only sessions with these words in the first 200 characters of their goal. Case does not matter.",
            "goal_met": "Only completed sessions that met their goal, or only those that did not.",
            "children": "Also sessions that calls of other sessions have started. Without it they are left out.",
        },
        answers=(searched_page("Session", says="Sessions that you may see."),),
    ),
    Operation(
        "pollSession", "GET", "/v1/sessions/{session_id}", "status", "sessions.routes:poll_session",
        rated="poll", takes=("If-None-Match",), client="session", client_form="by hand",
        mcp=McpOffer(
            "watch_session", "Watch a session",
            "The session as it is now, and its events since the cursor `after`. With `wait` the answer comes as soon "
            "as something happens, at the latest after so many seconds. Go on with the `cursor` of the answer. The "
            "session is over in the states completed, failed and cancelled; `session.interventions` has the questions "
            "that wait for a person.",
        ),
        summary="Read a session and follow it",
        about="Poll this endpoint. Send the `cursor` of the last answer as `after`. With `wait` the answer "
            "comes when something happens, or after so many seconds. Then wait for `poll_after_ms` and ask again; "
            "it is 0 if `wait` was a second or more and Acta is not under load.",
        parameters={
            "after": "The `cursor` of the last answer; `0`: all events.",
            "wait": "Seconds to wait for something to happen. The answer comes earlier under load, or if the "
                "tenant has reached its limit of waiting polls.",
        },
        answers=(
            data(
                "Snapshot",
                says="The session as it is, and the events since `after`.",
                headers=("ETag",), sometimes=("Retry-After",),
            ),
            UNCHANGED,
        ),
    ),
    Operation(
        "streamEvents", "GET", "/v1/sessions/{session_id}/events", "status", "sessions.routes:stream_events",
        rated="poll", takes=("Last-Event-ID",),
        summary="Read the same events as server-sent events",
        about="An event's id is the cursor after it, so a client that reconnects with `Last-Event-ID` "
            "misses nothing. `retry:` says after how many milliseconds to reconnect.",
        parameters={"after": "A cursor: only events after it. `Last-Event-ID` takes precedence."},
        answers=(AnswerSpec(
            200, "raw",
            says="Server-sent events. The `data` of each is an Event as JSON, its `id` a cursor. The stream "
                "ends once it has sent events: then reconnect.",
            raw={"text/event-stream": {}},
        ),),
    ),
    Operation(
        "listMessages", "GET", "/v1/sessions/{session_id}/messages", "status", "sessions.routes:list_messages",
        client="messages",
        summary="Read the conversation",
        answers=(page("Message", says="Messages, oldest first."),),
    ),
    Operation(
        "readPlan", "GET", "/v1/sessions/{session_id}/plan", "status", "sessions.routes:read_plan",
        takes=("If-None-Match",), codes=("PLAN_NOT_FOUND",), client="plan",
        summary="Read the plan and its versions",
        about="The ETag names the version. Steps change their status within a version.",
        answers=(
            data("Plans", says="The plan as it is, and a page of its versions.", headers=("ETag",)),
            UNCHANGED,
        ),
    ),
    Operation(
        "editPlan", "PATCH", "/v1/sessions/{session_id}/plan", "intervene", "sessions.control_routes:edit_plan",
        action="plan.edit", recorded_answer=("version",), takes=("Idempotency-Key",), needs=("If-Match",),
        codes=("PLAN_NOT_FOUND", "PRECONDITION_REQUIRED"),
        client="edit_plan", client_form="by hand",
        summary="Edit the plan",
        about="Adds, edits, skips and reorders pending steps: all operations in their order, or none. Steps "
            "that run or are finished cannot be changed. The agent reads in its next turn what you changed. What it "
            "was writing meanwhile does not change the plan and starts no call with an effect, except a call "
            "that somebody has approved.",
        answers=(data(
            "Plan", "DeletedSession",
            says="The plan's new version. If the session was deleted meanwhile, a repeat with the same "
                "`Idempotency-Key` is answered with only its id.",
            sometimes=("ETag",),
        ),),
    ),
    Operation(
        "readText", "GET", "/v1/sessions/{session_id}/texts/{text_id}", "status", "sessions.routes:read_text",
        client="text_part",
        summary="Read a long text, part by part",
        about="A message has only the beginning of a long result; this route has the whole text. Send `next_offset` "
            "as `offset` until it is null.",
        parameters={
            "text_id": "`whole.text_id` of a message.",
            "offset": "How many bytes to skip.",
            "limit": "The most bytes that the part may have.",
        },
        answers=(data("TextPart", says="A part of the text."),),
    ),
    Operation(
        "readScratchpad", "GET", "/v1/sessions/{session_id}/scratchpad", "status",
        "sessions.routes:read_scratchpad", client="scratchpad",
        summary="Read the agent's notes",
        answers=(data("Scratchpad", says="The notes as they are."),),
    ),
    Operation(
        "listSteps", "GET", "/v1/sessions/{session_id}/steps", "status", "sessions.routes:list_steps",
        client="steps",
        summary="Read the step log: every model call, tool call and decision, with its cost",
        answers=(page("Step", says="Rows of the step log, oldest first."),),
    ),
    Operation(
        "readTrace", "GET", "/v1/sessions/{session_id}/trace", "status", "sessions.routes:read_trace",
        client="trace",
        summary="Read the reasoning: thoughts, actions, inputs and observations",
        parameters={
            "include": "`answer`: also the run's whole answer. `results`: whole results as observations, even those "
                "that were too long for the model. For both, separate them with a comma.",
        },
        answers=(AnswerSpec(
            200, "page",
            says="Rows, oldest first.",
            shapes=("TraceRow",),
            beside={"answer": {
                "type": ["string", "null"],
                "description": "With `include=answer`: the run's whole answer, up to 500,000 characters; null if "
                    "it has none.",
            }},
        ),),
    ),
    Operation(
        "readTree", "GET", "/v1/sessions/{session_id}/tree", "status", "subagents.routes:read_tree",
        client="tree",
        summary="Read the tree of sessions that its calls of agents have started",
        about="Each session comes before its children; `depth` and `parent_id` say where it belongs. What each one "
            "waits for, what it has used and which questions of it are open is as it is now.",
        answers=(page("TreeNode", says="The session and those below it."),),
    ),
    Operation(
        "readReceipt", "GET", "/v1/sessions/{session_id}/receipt", "status", "usage.routes:read_receipt",
        client="receipt",
        mcp=McpOffer(
            "session_receipt", "What a session has cost",
            "Tokens by model, requests and times of a session, in dollars.",
        ),
        summary="Read what the session has cost, up to its last commit",
        about="Counts, tokens and what models cost are exact. What AWS charges is an estimate from the counts.",
        answers=(data("Receipt", says="The receipt."),),
    ),
    Operation(
        "changeLimits", "PATCH", "/v1/sessions/{session_id}", "intervene", "sessions.control_routes:change_limits",
        action="session.limits",
        recorded_answer=("limits.max_steps", "budget.token_budget", "budget.cost_budget_usd", "limits.review_every"),
        takes=("Idempotency-Key",), client="limit",
        summary="Raise or lower limits",
        about="The new limits apply to the present run and to later ones; `limits` of the answer shows them. "
            "A field that is absent or null does not change its limit; a limit cannot be removed. A limit above the "
            "caps gets 403, or 400 for an admin. A limit below what is used already is refused. A run that waits "
            "for tokens goes on at once with a higher budget. While a question about the budget is open, answer it "
            "with `raise` instead.",
        answers=(CONTROLLED,),
    ),
    Operation(
        "postMessage", "POST", "/v1/sessions/{session_id}/messages", "start", "sessions.start_routes:post_message",
        action="session.message", takes=("Idempotency-Key",), codes=STARTS, client="say",
        mcp=McpOffer(
            "say", "Say something to a session",
            "A message to the agent. It answers the agent's own open question if there is one that names no role. "
            "Otherwise the agent reads it before its next turn or, after a run has ended, in a new run of the same "
            "conversation.",
        ),
        summary="Say something to the session",
        about="The message answers the agent's open question, or else is read in its next turn. After a run has "
            "ended, it begins the next run.",
        answers=(CONTROLLED,),
    ),
    Operation(
        "rateAnswer", "POST", "/v1/sessions/{session_id}/rating", "intervene", "sessions.control_routes:rate_answer",
        action="answer.rate", recorded_request=("rating", "run_id"), takes=("Idempotency-Key",), client="rate",
        summary="Rate an answer",
        about="Says whether the answer of a completed run was good. Each person has one rating of each run; another "
            "one replaces it. Whoever may read the session may rate its newest ten answers and sees the ratings. The "
            "agent does not. Usage counts them. While no run has been completed, the answer is 409.",
        answers=(CONTROLLED,),
    ),
    Operation(
        "pauseSession", "POST", "/v1/sessions/{session_id}/pause", "intervene", "sessions.control_routes:pause_session",
        rated="never", action="session.pause", takes=("Idempotency-Key",), client="pause",
        summary="Pause the session",
        about="Nothing new begins until the session is resumed. Work that has begun is finished, and its results are "
            "kept. Pausing a paused session changes nothing.",
        answers=(CONTROLLED,),
    ),
    Operation(
        "resumeSession", "POST", "/v1/sessions/{session_id}/resume", "intervene",
        "sessions.control_routes:resume_session", action="session.resume",
        takes=("Idempotency-Key",), client="resume",
        summary="Resume the session",
        about="Ends a pause or an open review. A session that waits for its next try makes it at once.",
        answers=(CONTROLLED,),
    ),
    Operation(
        "cancelSession", "POST", "/v1/sessions/{session_id}/cancel", "intervene",
        "sessions.control_routes:cancel_session", private="admin",
        rated="never", action="session.cancel", takes=("Idempotency-Key",), client="cancel",
        mcp=McpOffer(
            "cancel_session", "Cancel a session",
            "Ends the session's run. No further call is started; `in_flight` names the calls that had begun and may "
            "still act.",
            destroys=True, repeats=True,
        ),
        summary="Cancel the session",
        about="Ends the run. No call begins after the answer. A second cancel also gets 202.",
        answers=(data(
            "CancelledSession", "HiddenSession", "DeletedSession",
            says="The session after the cancel. For somebody else's private session an admin is told only the state.",
            status=202,
        ),),
    ),
    Operation(
        "deleteSession", "DELETE", "/v1/sessions/{session_id}", "intervene", "sessions.control_routes:delete_session",
        private="admin", rated="never", action="session.delete", codes=("CONFLICT",), client="delete",
        summary="Delete the session",
        about="Cancels the session if it runs, then erases everything that was stored for it.",
        answers=(NOTHING,),
    ),
)

INTERVENTIONS = (
    Operation(
        "listInterventions", "GET", "/v1/interventions", "status", "people.listing_routes:list_interventions",
        action="intervention.read",
        client="interventions", client_form="by hand",
        mcp=McpOffer(
            "list_waiting", "List what waits for a person",
            "The questions that wait for a person in all sessions that you may see: approvals of calls, "
            "clarifications, errors, reviews, budgets. Each has `session_id`, `intervention_id`, `options` and what "
            "it is about.",
            fixed={"state": "pending"},
        ),
        summary="List the questions that wait, or waited, for people",
        parameters={"state": "Only questions in this state."},
        answers=(searched_page("Intervention", says="Questions of sessions that you may see, newest first."),),
    ),
    Operation(
        "listInterventionsOfSession", "GET", "/v1/sessions/{session_id}/interventions", "status",
        "people.listing_routes:list_interventions_of_session", private="decider", action="intervention.read",
        client="interventions", client_form="by hand",
        summary="List what waits for people in a session, and what was decided",
        parameters={"state": "Only questions in this state."},
        answers=(searched_page("Intervention", says="Pending questions, oldest first, or others, newest first."),),
    ),
    Operation(
        "readIntervention", "GET", "/v1/sessions/{session_id}/interventions/{intervention_id}", "status",
        "people.listing_routes:read_intervention", private="decider", action="intervention.read",
        client="intervention",
        summary="Read one question",
        answers=(data("Intervention", says="The question, and its decision if there is one."),),
    ),
    Operation(
        "readCallInput", "GET", "/v1/sessions/{session_id}/interventions/{intervention_id}/input", "status",
        "people.listing_routes:read_call_input", private="decider", action="intervention.read", client="call_input",
        mcp=McpOffer(
            "read_input", "Read the whole input of a call",
            "The whole input of the call that a question is about, if the question shows only its beginning.",
        ),
        summary="Read the whole input of the call that a question is about",
        parameters={"call_id": "Which call of a review; needed if it has more than one."},
        answers=(data("CallInput", says="The input with which the call would run."),),
    ),
    Operation(
        "resolveIntervention", "POST", "/v1/sessions/{session_id}/interventions/{intervention_id}/resolve",
        "intervene", "people.routes:resolve_intervention",
        private="decider", rated="never", action="intervention.resolve", recorded_request=("option",),
        recorded_answer=("type", "tool_call.name", "input.token_budget", "input.cost_budget_usd"),
        takes=("Idempotency-Key",), codes=("APPROVER_MUST_DIFFER",), client="decide",
        mcp=McpOffer(
            "decide", "Decide a question",
            "Has the person whose token this is asked to decide a question: in a form of their client, or on the page "
            "that the answer names. The person chooses the option, whatever this call names. Only reject, skip, cancel "
            "and finish are done at once. A second decision is refused.",
            destroys=True,
        ),
        summary="Decide a question",
        about="`option` is one of the intervention's `options`. Some take an `input`: `modify` the tool's whole input, "
            "`answer` `{text}`, `record` `{result}`, `raise` `{token_budget?, cost_budget_usd?}`, `retry` "
            "`{hint?}`. A second or late decision gets 409 with the recorded one.",
        answers=(data(
            "Intervention", "DecidedOfDeleted",
            says="The decision. If the session was deleted meanwhile, a repeat is answered with only the ids.",
        ),),
    ),
)

FILES = (
    Operation(
        "listFiles", "GET", "/v1/files", "admin", "files.routes:list_files", client="files.list", client_form="by hand",
        summary="List files",
        about="A page of deleted files looks at 5,000 versions. It may be short or empty and still have a "
            "`next_cursor`.",
        parameters={
            "prefix": "Only paths that begin with this text; `~/`: your own files.",
            "deleted": "`1`: instead of the present files those that were deleted and not written again.",
        },
        answers=(AnswerSpec(
            200, "page",
            says="Files by path. With `deleted=1` those that were deleted.",
            shapes=("File", "DeletedFile"),
        ),),
    ),
    Operation(
        "readFile", "GET", "/v1/files/{path+}", "admin", "files.routes:read_file", action="file.read",
        codes=("NOT_FOUND", "PAYLOAD_TOO_LARGE"), client="files.read", client_form="by hand",
        summary="Read a file, or list its versions",
        parameters={
            "versions": "`1`: a list of its versions instead of its bytes.",
            "version": "The `version_id` of an earlier version, to read that one.",
        },
        answers=(AnswerSpec(
            200, "page",
            says="The file's bytes: as text if they are text, otherwise as a download. The `charset` is the file's, "
                "or a guess where nothing says it. With `versions=1` a page of its newest 100 versions.",
            shapes=("FileVersion",),
            raw={"text/plain": TEXT, **BYTES},
        ),),
    ),
    Operation(
        "writeFile", "PUT", "/v1/files/{path+}", "admin", "files.routes:write_file",
        action="file.write", recorded_answer=("bytes",),
        takes=("If-Match", "If-None-Match"), codes=("PAYLOAD_TOO_LARGE",),
        client="files.write", client_form="by hand",
        summary="Write a file",
        about="The body is the file, at most 4 MB; without one the file is empty. Send it as "
            "`application/octet-stream`: what the gateway reads as text (`text/…`, JSON, XML, JavaScript) is stored "
            "only if every byte has arrived, which `Content-Digest` always shows; otherwise the answer is 400. A form "
            "is 415, a part with `Content-Range` 400. `If-None-Match: *` writes only a new file. `If-Match` with the "
            "`etag` of the current version (of `versions=1`) replaces only what you have seen. Otherwise the answer is "
            "412. The answer has the path in its one spelling, which accents and spaces of other kinds do not change.",
        sends=BYTES,
        answers=(
            data("WrittenFile", says="The file existed; this is now its newest version."),
            data("WrittenFile", says="The file is new.", status=201),
        ),
    ),
    Operation(
        "restoreFile", "POST", "/v1/files/{path+}", "admin", "files.routes:restore_file",
        action="file.restore",
        recorded_request=("restore",), recorded_answer=("bytes",), takes=("If-Match", "If-None-Match"),
        codes=("NOT_FOUND",), client="files.restore", client_form="by hand",
        summary="Restore an earlier version of a file",
        about="With `If-Match` and the `etag` of the current version, or with `If-None-Match: *` for a deleted file, "
            "the answer is 412 if somebody has changed it since.",
        parameters={"restore": "The `version_id` of the version."},
        answers=(data("WrittenFile", says="The version was written again, as the newest one."),),
    ),
    Operation(
        "deleteFile", "DELETE", "/v1/files/{path+}", "admin", "files.routes:delete_file",
        action="file.delete", takes=("If-Match",), codes=("NOT_FOUND",), client="files.delete", client_form="by hand",
        summary="Delete a file",
        about="Earlier versions are kept for 30 days. With `If-Match` and the `etag` of the current version the answer "
            "is 412 if somebody has changed it since.",
        answers=(NOTHING,),
    ),
)

AGENTS = (
    Operation(
        "listAgents", "GET", "/v1/agents", "admin", "agents.routes:list_agents", client="agents.list",
        summary="List agents",
        answers=(page("Agent", says="Agents by id."),),
    ),
    Operation(
        "createAgent", "POST", "/v1/agents", "admin", "agents.routes:create_agent",
        role="admin", action="agent.create",
        recorded_request=("agent_id",), recorded_answer=("agent_id", "version"), takes=("Idempotency-Key",),
        client="agents.create", client_form="definition",
        summary="Define an agent",
        answers=(data("Agent", says="The agent.", status=201, headers=("Location",)),),
    ),
    Operation(
        "readAgent", "GET", "/v1/agents/{agent_id}", "admin", "agents.routes:read_agent",
        takes=("If-None-Match",), codes=("NOT_FOUND",), client="agents.get",
        summary="Read an agent",
        answers=(data("Agent", says="The agent.", headers=("ETag",)), UNCHANGED),
    ),
    Operation(
        "replaceAgent", "PUT", "/v1/agents/{agent_id}", "admin", "agents.routes:replace_agent",
        role="admin", action="agent.replace",
        recorded_answer=("version",), takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"),
        client="agents.replace", client_form="definition",
        summary="Replace an agent's definition",
        about="The body is the whole definition: absent fields get their defaults. The agent `default` may be "
            "replaced, too.",
        answers=(data("Agent", says=REPLACED, headers=("ETag",)),),
    ),
    Operation(
        "deleteAgent", "DELETE", "/v1/agents/{agent_id}", "admin", "agents.routes:delete_agent",
        role="admin", action="agent.delete", takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"),
        client="agents.delete",
        summary="Delete an agent",
        about="Its memories are kept. An agent that is created later with the same id has them. If other agents may "
            "call it, the answer is 409, and `details.agents` lists them. With `force=true` it is deleted, and they go "
            "on without it.",
        parameters={"force": "Delete the agent even if other agents may call it."},
        answers=(NOTHING,),
    ),
)

TOOLS = (
    Operation(
        "listTools", "GET", "/v1/tools", "admin", "tools.routes:list_tools", client="tools.list",
        summary="List tools",
        answers=(page("Tool", says="All tools on one page, built-in ones first."),),
    ),
    Operation(
        "createTool", "POST", "/v1/tools", "admin", "tools.routes:create_tool",
        role="admin", action="tool.create",
        recorded_request=("name",), recorded_answer=("version",), takes=("Idempotency-Key",),
        client="tools.create", client_form="definition",
        summary="Add a tool",
        about="Its kind is `http` or `lambda`. The input is validated against `input_schema` before anything "
            "runs. A header's value is a text only if its name and value are clearly no credential; all others refer "
            "to a secret. `{name}` in the path of `url` is an argument; `parameters` says where other arguments "
            "go, as in OpenAPI.",
        answers=(data("Tool", says="The tool.", status=201, headers=("Location",)),),
    ),
    Operation(
        "readTool", "GET", "/v1/tools/{name}", "admin", "tools.routes:read_tool",
        takes=("If-None-Match",), codes=("NOT_FOUND",), client="tools.get",
        summary="Read a tool",
        answers=(data("Tool", says="The tool. A built-in one has no ETag.", sometimes=("ETag",)), UNCHANGED),
    ),
    Operation(
        "replaceTool", "PUT", "/v1/tools/{name}", "admin", "tools.routes:replace_tool",
        role="admin", action="tool.replace",
        recorded_answer=("version",), takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"),
        client="tools.replace", client_form="definition",
        summary="Replace a tool's definition",
        answers=(data("Tool", says=REPLACED, headers=("ETag",)),),
    ),
    Operation(
        "deleteTool", "DELETE", "/v1/tools/{name}", "admin", "tools.routes:delete_tool",
        role="admin", action="tool.delete", takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"), client="tools.delete",
        summary="Delete a tool",
        about="If agents name the tool, the answer is 409, and `details.agents` lists them. With `force=true` it is "
            "deleted, and they go on without it.",
        parameters={"force": "Delete the tool even if agents name it."},
        answers=(NOTHING,),
    ),
    Operation(
        "callTool", "POST", "/v1/tools/{name}/call", "admin", "tools.routes:call_tool",
        role="admin", action="tool.call",
        recorded_answer=("effect_id", "outcome"), takes=("Idempotency-Key",), codes=("NOT_FOUND",), client="tools.call",
        summary="Try a tool",
        about="Calls the tool outside a session for at most 20 seconds, with the same checks as in a session. "
            "A tool of high stakes needs `confirm: true` (else 409), and one with an "
            "`approver_role` needs that role (else 403). A tool whose calls somebody else has to approve (403) and a "
            "built-in tool (409) cannot be tried. Invalid input gets 400. After 503 nothing was done. A repeat with "
            "the same `Idempotency-Key` makes no second call and gets 409.",
        answers=(data(
            "ToolTrial",
            says="`outcome` says whether the tool was called, `error.remedy` what helps if it was not.",
        ),),
    ),
    Operation(
        "listMcpServers", "GET", "/v1/mcp-servers", "admin", "tools.mcp.routes:list_mcp_servers",
        role="admin", client="mcp_servers.list",
        summary="List the MCP servers",
        answers=(page("McpServer", says="All servers on one page, with their confirmed tools."),),
    ),
    Operation(
        "readMcpServer", "GET", "/v1/mcp-servers/{name}", "admin", "tools.mcp.routes:read_mcp_server",
        role="admin", takes=("If-None-Match",), codes=("NOT_FOUND",), client="mcp_servers.get",
        summary="Read an MCP server",
        answers=(data("McpServer", says="The server and its confirmed tools.", headers=("ETag",)), UNCHANGED),
    ),
    Operation(
        "writeMcpServer", "PUT", "/v1/mcp-servers/{name}", "admin", "tools.mcp.routes:write_mcp_server",
        role="admin", action="mcp_server.write", takes=("If-Match",), codes=("CONFLICT",),
        client="mcp_servers.write", client_form="definition",
        summary="Name an MCP server, or replace its definition",
        about="The answer is also 409 if you confirm a tool and the server does not answer.",
        answers=(
            data("McpServer", says=REPLACED, headers=("ETag",)),
            data("McpServer", says="The server is new. No agent has a tool of it yet.", status=201),
        ),
    ),
    Operation(
        "deleteMcpServer", "DELETE", "/v1/mcp-servers/{name}", "admin", "tools.mcp.routes:delete_mcp_server",
        role="admin", action="mcp_server.delete", takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"),
        client="mcp_servers.delete",
        summary="Delete an MCP server and its tools",
        about="If agents name one of its tools, the answer is 409, and `details.agents` lists them. With "
            "`force=true` the server is deleted, and the agents go on without its tools.",
        parameters={"force": "Delete the server even if agents name its tools."},
        answers=(NOTHING,),
    ),
    Operation(
        "refreshMcpServer", "POST", "/v1/mcp-servers/{name}/refresh", "admin", "tools.mcp.routes:refresh_mcp_server",
        role="admin", action="mcp_server.refresh", codes=("NOT_FOUND", "CONFLICT"), client="mcp_servers.refresh",
        summary="Ask an MCP server how it describes its tools now",
        about="The answer is 409 if the server does not answer, or not as an MCP server does.",
        answers=(
            data(
                "ListedMcpTools",
                says="Each tool, and whether its description is the confirmed one. Nothing is stored.",
            ),
        ),
    ),
    Operation(
        "confirmMcpTools", "POST", "/v1/mcp-servers/{name}/confirm", "admin", "tools.mcp.routes:confirm_mcp_tools",
        role="admin", action="mcp_server.confirm", takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"),
        client="mcp_servers.confirm",
        summary="Let agents have tools of an MCP server",
        about="The answer is 400 if the server's description of a tool no longer fits the pin.",
        answers=(data("McpServer", says="The server with its confirmed tools.", headers=("ETag",)),),
    ),
    Operation(
        "listToolSecrets", "GET", "/v1/tool-secrets", "admin", "tools.secret_routes:list_tool_secrets",
        role="admin", client="tool_secrets.list",
        summary="List the secrets that tools' headers refer to",
        answers=(page("ToolSecret", says="All secrets on one page. Nobody can read their values."),),
    ),
    Operation(
        "setToolSecret", "PUT", "/v1/tool-secrets/{name}", "admin", "tools.secret_routes:set_tool_secret",
        role="admin", action="tool_secret.write", codes=("CONFLICT",), client="tool_secrets.write",
        summary="Set a secret",
        answers=(
            data("ToolSecret", says="The secret has a new value."),
            data("ToolSecret", says="The secret is new.", status=201),
        ),
    ),
    Operation(
        "deleteToolSecret", "DELETE", "/v1/tool-secrets/{name}", "admin", "tools.secret_routes:delete_tool_secret",
        role="admin", action="tool_secret.delete", codes=("NOT_FOUND", "CONFLICT"), client="tool_secrets.delete",
        summary="Delete a secret",
        about="The answer is 409 if a tool, an MCP server or a trigger refers to the secret.",
        answers=(NOTHING,),
    ),
)

NOTIFICATIONS = (
    Operation(
        "readNotifications", "GET", "/v1/notifications", "admin", "notifications.routes:read_notifications",
        role="admin", codes=("NOT_FOUND",), client="notifications.read",
        summary="Read where notifications of questions and ended sessions are sent",
        answers=(data("Notifications", says="The webhook without its secret, which nobody can read."),),
    ),
    Operation(
        "setNotifications", "PUT", "/v1/notifications", "admin", "notifications.routes:set_notifications",
        role="admin", action="notifications.write", client="notifications.write",
        summary="Set the URL for notifications and the secret that signs them",
        about="The operator must allow the URL's host; otherwise the answer is 400. Notifications to "
            "sessions' own webhooks are signed with the same secret.",
        answers=(
            data("Notifications", says="URL and secret are replaced."),
            data("Notifications", says="URL and secret are new.", status=201),
        ),
    ),
    Operation(
        "deleteNotifications", "DELETE", "/v1/notifications", "admin", "notifications.routes:delete_notifications",
        role="admin", action="notifications.delete", codes=("NOT_FOUND",), client="notifications.delete",
        summary="Delete the URL and the secret",
        about="Sessions with their own webhook then send no notifications either.",
        answers=(NOTHING,),
    ),
)

MEMORIES = (
    Operation(
        "listMemories", "GET", "/v1/memories", "admin", "memories.routes:list_memories", client="memories.list",
        summary="List memories, newest first",
        parameters={"agent_id": "Only memories of this agent.", "kind": "Only memories of this kind."},
        answers=(page("Memory", says="Memories that you may see."),),
    ),
    Operation(
        "createMemory", "POST", "/v1/memories", "admin", "memories.routes:create_memory",
        action="memory.create", recorded_request=("agent_id",),
        recorded_answer=("memory_id",), takes=("Idempotency-Key",), client="memories.create",
        summary="Write a memory",
        about="A memory that a person writes is used in all sessions of the agent.",
        answers=(data("Memory", says="The memory.", status=201, headers=("Location",)),),
    ),
    Operation(
        "readMemory", "GET", "/v1/memories/{memory_id}", "admin", "memories.routes:read_memory",
        takes=("If-None-Match",), codes=("NOT_FOUND",), client="memories.get",
        summary="Read a memory",
        answers=(data("Memory", says="The memory.", headers=("ETag",)), UNCHANGED),
    ),
    Operation(
        "replaceMemory", "PUT", "/v1/memories/{memory_id}", "admin", "memories.routes:replace_memory",
        action="memory.replace", takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"), client="memories.replace",
        summary="Replace a memory",
        answers=(data("Memory", says=REPLACED, headers=("ETag",)),),
    ),
    Operation(
        "deleteMemory", "DELETE", "/v1/memories/{memory_id}", "admin", "memories.routes:delete_memory",
        action="memory.delete", takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"), client="memories.delete",
        summary="Delete a memory",
        answers=(NOTHING,),
    ),
)

CALLBACKS = (
    Operation(
        "answerCall", "POST", "/v1/callbacks/{token}", "wake", "tools.callback_routes:answer_callback",
        role=None, unrecorded="Its sender is no person. The log of the session has the answer.",
        codes=("NOT_FOUND", "SESSION_NOT_FOUND", "CONFLICT"),
        summary="Answer a tool call",
        about="For the program that works on a call which is answered later; the URL is the call's own. One answer "
            "counts. After it, after the deadline and after a cancel the answer is 409, and `details` have what was "
            "recorded: `by` (`tool`, `callback`, `deadline` or `cancel`), `at` and `ok`. So whoever has lost "
            "the answer of a delivery may send it again, and learns that it was recorded.",
        parameters={"token": "The end of the call's URL."},
        answers=(data("AnsweredCall", says="The answer was recorded, and the session goes on."),),
    ),
)

TRIGGERS = (
    Operation(
        "listTriggers", "GET", "/v1/triggers", "admin", "triggers.routes:list_triggers",
        role="admin", client="triggers.list",
        summary="List the triggers",
        answers=(page("Trigger", says="All triggers on one page."),),
    ),
    Operation(
        "readTrigger", "GET", "/v1/triggers/{trigger_id}", "admin", "triggers.routes:read_trigger",
        role="admin", takes=("If-None-Match",), codes=("NOT_FOUND",), client="triggers.get",
        summary="Read a trigger",
        answers=(
            data("TriggerWithCounts", says="The trigger, and how many events came to it.", headers=("ETag",)),
            UNCHANGED,
        ),
    ),
    Operation(
        "writeTrigger", "PUT", "/v1/triggers/{trigger_id}", "admin", "triggers.routes:write_trigger",
        role="admin", action="trigger.write", recorded_answer=("version", "agent_id"), takes=("If-Match",),
        codes=("CONFLICT",), client="triggers.write", client_form="definition",
        summary="Make a trigger, or replace it",
        about="Its sessions are yours: they may do what you may, with the roles that you have now.",
        answers=(
            data("Trigger", says=REPLACED, headers=("ETag",)),
            data("Trigger", says="The trigger is new. Give `url` to whoever sends the events.", status=201),
        ),
    ),
    Operation(
        "deleteTrigger", "DELETE", "/v1/triggers/{trigger_id}", "admin", "triggers.routes:delete_trigger",
        role="admin", action="trigger.delete", takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"),
        client="triggers.delete",
        summary="Delete a trigger",
        about="Its sessions go on. Events that wait end as `failed`.",
        answers=(NOTHING,),
    ),
    Operation(
        "pauseTrigger", "POST", "/v1/triggers/{trigger_id}/pause", "admin", "triggers.routes:pause_trigger",
        role="admin", action="trigger.pause", rated="never", codes=("NOT_FOUND", "CONFLICT"),
        client="triggers.pause",
        summary="Pause a trigger",
        about="Events are refused from now on, and kept for a replay. Its sessions go on.",
        answers=(data("Trigger", says="The trigger is paused.", headers=("ETag",)),),
    ),
    Operation(
        "resumeTrigger", "POST", "/v1/triggers/{trigger_id}/resume", "admin", "triggers.routes:resume_trigger",
        role="admin", action="trigger.resume", codes=("NOT_FOUND", "CONFLICT"), client="triggers.resume",
        summary="Resume a trigger",
        answers=(data("Trigger", says="The trigger takes events again.", headers=("ETag",)),),
    ),
    Operation(
        "listTriggerEvents", "GET", "/v1/triggers/{trigger_id}/events", "admin", "triggers.routes:list_trigger_events",
        role="admin", codes=("NOT_FOUND",), client="triggers.events",
        summary="List the events of a trigger, newest first",
        about="Events of the last 90 days, without what they said.",
        parameters={"outcome": "Only events with this outcome. A page may then have fewer, and a `next_cursor`."},
        answers=(page("TriggerEvent", says="How each event ended."),),
    ),
    Operation(
        "sendTriggerEvent", "POST", "/v1/triggers/{trigger_id}/events", "start",
        "triggers.send_routes:send_trigger_event",
        role="admin", action="trigger.send", recorded_answer=("event_id", "outcome"), codes=("NOT_FOUND",),
        client="triggers.send",
        summary="Send an event to a trigger by hand",
        about="As its source would, to try it. It is for whoever wrote the trigger last.",
        answers=(data(
            "DeliveredEvent",
            says="The event has started a session or was said to one, waits, failed or was refused.",
            status=202,
        ),),
    ),
    Operation(
        "replayTriggerEvent", "POST", "/v1/triggers/{trigger_id}/events/{event_id}/replay", "admin",
        "triggers.routes:replay_trigger_event",
        role="admin", action="trigger.replay", codes=("NOT_FOUND", "CONFLICT"), client="triggers.replay",
        summary="Replay an event that was refused or failed",
        about="It is tried in the next minute, as the trigger says now.",
        parameters={"event_id": "The event's id, as the list of events has it."},
        answers=(data("TriggerEvent", says="The event waits.", status=202),),
    ),
    Operation(
        "deliverEvent", "POST", "/v1/hooks/{token}", "wake", "triggers.hook_routes:deliver_event",
        role=None, unrecorded="Its sender is no person. The history of the trigger has each event.",
        codes=("NOT_FOUND", "UNAUTHORIZED"),
        summary="Deliver an event to a trigger",
        about="For the service whose webhook the trigger is; the URL is the trigger's `url`. The body is signed as the "
            "trigger's `webhook` says. The same event may be delivered again: it counts once.",
        parameters={"token": "The end of the trigger's `url`."},
        sends={"application/json": {
            "description": "The event, as its sender writes it.", "type": "object", "minProperties": 1,
        }},
        examples={"order": {"type": "order.paid", "order": {"id": "4711"}}},
        answers=(data(
            "DeliveredEvent",
            says="The event is stored: it has started a session, waits or was refused. Do not send it again.",
            status=202,
        ),),
    ),
)

PROMPTS = (
    Operation(
        "listPrompts", "GET", "/v1/admin/prompts", "admin", "prompts.routes:list_prompts",
        role="admin", action="prompt.list", client="prompts.list",
        summary="List the managed prompts",
        answers=(page("Prompt", says="The versions in force."),),
    ),
    Operation(
        "readPrompt", "GET", "/v1/admin/prompts/{name}", "admin", "prompts.routes:read_prompt",
        role="admin", takes=("If-None-Match",), codes=("NOT_FOUND",), client="prompts.get",
        summary="Read a prompt",
        answers=(data("PromptInForce", says="The version in force.", headers=("ETag",)), UNCHANGED),
    ),
    Operation(
        "writePrompt", "PUT", "/v1/admin/prompts/{name}", "admin", "prompts.routes:write_prompt",
        role="admin", action="prompt.write",
        recorded_answer=("version",), takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"), client="prompts.write",
        summary="Write a new version of a prompt",
        about="The text is in force at once for all agents of the tenant, so read the present text first and "
            "change only what you mean to change. An earlier version can be restored. The example is the "
            "release's own text, which changes nothing. With `active` false the version is a draft, which is not in "
            "force: name it in `prompts` of a start or a fork to try it, and restore it to put it in force.",
        answers=(data(
            "Prompt",
            says="The version that was written. The text that is in force, or that of the newest draft, does not "
                "make a new version.",
            headers=("ETag",),
        ),),
    ),
    Operation(
        "listPromptVersions", "GET", "/v1/admin/prompts/{name}/versions", "admin",
        "prompts.routes:list_prompt_versions", role="admin",
        codes=("NOT_FOUND",), client="prompts.versions",
        summary="List the versions of a prompt",
        answers=(page("Prompt", says="Newest first."),),
    ),
    Operation(
        "restorePrompt", "POST", "/v1/admin/prompts/{name}/versions/{version}/restore", "admin",
        "prompts.routes:restore_prompt", role="admin",
        action="prompt.restore", recorded_answer=("version",), takes=("Idempotency-Key", "If-Match"),
        codes=("NOT_FOUND",),
        client="prompts.restore",
        summary="Put another version of a prompt in force",
        parameters={"version": "The number of the version."},
        answers=(
            data("Prompt", says="The text of that earlier version or draft is in force, as a new version."),
        ),
    ),
)

SCHEDULES = (
    Operation(
        "listSchedules", "GET", "/v1/schedules", "admin", "schedules.routes:list_schedules", client="schedules.list",
        summary="List schedules",
        about="Admins also see other people's private schedules, without their goals.",
        answers=(page("Schedule", says="Schedules by id, as far as you may see them."),),
    ),
    Operation(
        "createSchedule", "POST", "/v1/schedules", "admin", "schedules.routes:create_schedule",
        action="schedule.create", recorded_request=("agent_id",), recorded_answer=("schedule_id", "version"),
        takes=("Idempotency-Key",), client="schedules.create", client_form="definition",
        summary="Have sessions start at times",
        about="Each session is yours, and may be what you may start with your present roles. Limits and caps hold as "
            "for a start by a member.",
        answers=(data("Schedule", says="The schedule.", status=201, headers=("Location",)),),
    ),
    Operation(
        "readSchedule", "GET", "/v1/schedules/{schedule_id}", "admin", "schedules.routes:read_schedule",
        takes=("If-None-Match",), codes=("NOT_FOUND",), client="schedules.get",
        summary="Read a schedule and its next five times",
        answers=(data("Schedule", says="The schedule.", headers=("ETag",)), UNCHANGED),
    ),
    Operation(
        "replaceSchedule", "PUT", "/v1/schedules/{schedule_id}", "admin", "schedules.routes:replace_schedule",
        action="schedule.replace", recorded_answer=("version",), takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"),
        client="schedules.replace", client_form="definition",
        summary="Replace a schedule",
        about="For whoever wrote it last, and for admins, who may not replace somebody else's private one. It is yours "
            "from then on.",
        answers=(data("Schedule", says=REPLACED, headers=("ETag",)),),
    ),
    Operation(
        "changeSchedule", "PATCH", "/v1/schedules/{schedule_id}", "admin", "schedules.routes:change_schedule",
        action="schedule.change", recorded_answer=("version",), takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"),
        client="schedules.change", client_form="definition",
        summary="Change some of a schedule",
        about="As for a replacement, and what the body does not name stays as it is.",
        answers=(data("Schedule", says=REPLACED, headers=("ETag",)),),
    ),
    Operation(
        "deleteSchedule", "DELETE", "/v1/schedules/{schedule_id}", "admin", "schedules.routes:delete_schedule",
        action="schedule.delete", takes=("If-Match",), codes=("NOT_FOUND", "CONFLICT"), client="schedules.delete",
        summary="Delete a schedule",
        about="Its sessions stay.",
        answers=(NOTHING,),
    ),
    Operation(
        "pauseSchedule", "POST", "/v1/schedules/{schedule_id}/pause", "admin", "schedules.routes:pause_schedule",
        action="schedule.pause", recorded_answer=("version",), codes=("NOT_FOUND", "CONFLICT"),
        client="schedules.pause",
        summary="Pause a schedule",
        about="No time starts a session until somebody resumes it. Times that wait for the session before are left "
            "out. The session that runs goes on.",
        answers=(data("Schedule", says="The schedule.", headers=("ETag",)),),
    ),
    Operation(
        "resumeSchedule", "POST", "/v1/schedules/{schedule_id}/resume", "admin", "schedules.routes:resume_schedule",
        action="schedule.resume", recorded_answer=("version",), codes=("NOT_FOUND", "CONFLICT"),
        client="schedules.resume",
        summary="Resume a schedule",
        about="It goes on with the next time. Times that came while it was paused are not made up for.",
        answers=(data("Schedule", says="The schedule.", headers=("ETag",)),),
    ),
    Operation(
        "runSchedule", "POST", "/v1/schedules/{schedule_id}/run", "start",
        "schedules.start_routes:run_schedule",
        action="schedule.run", recorded_answer=("session_id", "agent_id"), takes=("Idempotency-Key",),
        codes=("NOT_FOUND", "CONFLICT", *STARTS), client="schedules.run",
        summary="Start a schedule's session now",
        about="Whatever else of it is open, and also while it is paused. Its times stay as they are.",
        answers=(data(
            "Session", "DeletedSession",
            says="The session has begun; follow it at `Location`. If it was deleted meanwhile, a repeat is "
                "answered with only its id.",
            status=202, headers=("Location",),
        ),),
    ),
    Operation(
        "listScheduleRuns", "GET", "/v1/schedules/{schedule_id}/runs", "admin", "schedules.routes:list_schedule_runs",
        codes=("NOT_FOUND",), client="schedules.runs",
        summary="Read what became of a schedule's times",
        about="Of the last 90 days.",
        answers=(page("ScheduleRun", says="Times, newest first."),),
    ),
)

MCP = (
    Operation(
        "askOverMcp", "POST", "/mcp", "mcp", "mcp_server.routes:ask_over_mcp",
        rated="within", unrecorded="Each operation that it asks for a client is recorded by itself.",
        summary="Sessions for clients of the Model Context Protocol",
        about="There are tools to start, watch, steer and cancel sessions, and a tool for each agent. Each call of a "
            "tool is a request to a route of this document, with that route's checks and limits. Errors of the "
            "protocol (400, 404) are JSON-RPC errors; all others have the usual form.",
        sends={"application/json": JSON_RPC_REQUEST},
        examples={"2025-11-25": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}},
        answers=(
            AnswerSpec(
                200, "raw",
                says="The result or the error of the request.",
                raw={"application/json": JSON_RPC_ANSWER},
            ),
            AnswerSpec(202, "empty", says="The answer to a notification."),
            AnswerSpec(
                400, "raw",
                says="The message does not follow the protocol, or its headers contradict it.",
                raw={"application/json": JSON_RPC_REFUSAL},
            ),
            AnswerSpec(
                404, "raw",
                says="There is no such method.",
                raw={"application/json": JSON_RPC_REFUSAL},
            ),
        ),
    ),
)

DEPLOYMENT = (
    Operation(
        "readMe", "GET", "/v1/me", "status", "api.routes:read_me",
        client="me",
        summary="Read who you are: tenant, subject and roles",
        answers=(data("Me", says="What the token says."),),
    ),
    Operation(
        "listModels", "GET", "/v1/models", "step", "models.routes:list_models",
        role="admin",
        client="models",
        summary="List the models with their prices, who uses them, and whether there is a key",
        answers=(data("ConfiguredModels", says="The configured models."),),
    ),
    Operation(
        "checkModelKeys", "POST", "/v1/models/check", "step", "models.routes:check_model_keys",
        role="admin", action="models.check",
        client="check_models",
        summary="Ask every provider whether its key works",
        answers=(data("CheckedKeys", says="The providers' answers. Nothing is changed."),),
    ),
    Operation(
        "listAuditRecords", "GET", "/v1/audit", "admin", "api.routes:list_audit_records",
        role="admin", action="audit.read",
        client="audit",
        summary="Read who did what, newest first",
        parameters={
            "from": "Only records from this time on.",
            "to": "Only records before this time.",
            "action": "Only records of this action.",
            "user": "Only records of this person: the subject at the identity provider.",
            "who": "Only records of this pseudonym.",
            "session_id": "Only records of this session.",
        },
        answers=(page("AuditRecord", says="Records of the tenant, deleted sessions included."),),
    ),
    Operation(
        "readDeployment", "GET", "/v1/admin/health", "admin", "api.routes:read_deployment",
        role="admin",
        client="health",
        summary="Read the release, the tenant's limits, and when recovery last ran",
        answers=(
            data("DeploymentHealth", says="How the deployment is set up, and what its last recovery did."),
        ),
    ),
    Operation(
        "readUsage", "GET", "/v1/usage", "status", "usage.routes:read_usage", action="usage.read",
        client="usage", client_form="by hand",
        summary="Read what the tenant has used, in sums",
        about="Admins see the whole tenant. Others see their own usage, `by` day or user. A commit is "
            "counted within a minute or two; deleted sessions are included. AWS's part is an estimate.",
        parameters={
            "from": "The beginning, rounded down to an hour (`by` hour) or a day. Absent: seven days before "
                "`to`.",
            "to": "The exclusive end, rounded up, at most 92 days after `from`. Absent: now.",
            "by": "What each item of the answer is about.",
        },
        answers=(
            data("TenantUsage", says="Sums of whole hours or days in UTC. Those without usage are left out."),
        ),
    ),
    Operation(
        "openConsole", "GET", "/console", "console", "console.routes:open_console",
        role=None,
        summary="The page for people",
        answers=(AnswerSpec(302, "empty", says="The page begins at `/console/inbox`.", headers=("Location",)),),
    ),
    Operation(
        "readPageSignIn", "GET", "/console/sign-in.json", "console", "console.routes:read_page_sign_in",
        role=None,
        summary="Where the page for people signs them in",
        answers=(data("PageSignIn", says="The same for everybody."),),
    ),
    Operation(
        "readConsole", "GET", "/console/{place+}", "console", "console.routes:read_console",
        role=None, takes=("If-None-Match",),
        summary="The page for people, at one of its addresses",
        parameters={
            "place": "`inbox`, `sessions`, `sessions/{session_id}` … The page itself knows its addresses.",
        },
        answers=(
            AnswerSpec(
                200, "raw",
                says="One file, the same at every address, that loads nothing from elsewhere.",
                headers=("Content-Security-Policy", "ETag"), raw=HTML,
            ),
            UNCHANGED,
        ),
    ),
    Operation(
        "readProtectedResource", "GET", "/.well-known/oauth-protected-resource", "fallback",
        "api.fallback:read_protected_resource", role=None,
        codes=("NOT_FOUND",),
        summary="Who issues the API's tokens",
        answers=(AnswerSpec(200, "raw", says="Metadata of the API (RFC 9728).", raw=METADATA),),
    ),
    Operation(
        "readProtectedMcp", "GET", "/.well-known/oauth-protected-resource/mcp", "fallback",
        "api.fallback:read_protected_mcp", role=None,
        codes=("NOT_FOUND",),
        summary="Who issues the tokens that `/mcp` takes",
        answers=(AnswerSpec(200, "raw", says="Metadata of `/mcp` (RFC 9728).", raw=METADATA),),
    ),
    Operation(
        "readHealth", "GET", "/healthz", "fallback", "api.fallback:read_health",
        role=None,
        summary="Whether the API answers",
        answers=(data("Health", says="The API answers."),),
    ),
    Operation(
        "readDocument", "GET", "/v1/openapi.json", "fallback", "api.fallback:read_document",
        role=None,
        summary="This document",
        answers=(AnswerSpec(200, "raw", says="OpenAPI 3.1.", raw={"application/json": {"type": "object"}}),),
    ),
    Operation(
        "readPage", "GET", "/v1/docs", "fallback", "api.fallback:read_page",
        role=None,
        summary="This document as a page to read and to try",
        answers=(AnswerSpec(
            200, "raw",
            says="A page that loads nothing from elsewhere.",
            headers=("Content-Security-Policy",), raw=HTML,
        ),),
    ),
    Operation(
        "readPageFile", "GET", "/v1/docs/{file}", "fallback", "api.fallback:read_page_file",
        role=None, codes=("NOT_FOUND",),
        summary="A file that the page loads",
        parameters={"file": "The file's name."},
        answers=(
            AnswerSpec(
                200, "raw",
                says="A file of the page.",
                headers=("Content-Security-Policy",),
                raw={"text/css; charset=utf-8": TEXT, "text/javascript; charset=utf-8": TEXT},
            ),
        ),
    ),
)
BY_TAG: Mapping[str, tuple[Operation, ...]] = MappingProxyType({
    "Sessions": SESSIONS,
    "Interventions": INTERVENTIONS,
    "Files": FILES,
    "Agents": AGENTS,
    "Tools": (*TOOLS, *CALLBACKS),
    "Notifications": NOTIFICATIONS,
    "Triggers": TRIGGERS,
    "Memories": MEMORIES,
    "Prompts": PROMPTS,
    "Schedules": SCHEDULES,
    "MCP": MCP,
    "Operation": DEPLOYMENT,
})
"""The rows by the document's tags."""
OPERATIONS: tuple[Operation, ...] = tuple(row for rows in BY_TAG.values() for row in rows)
ASKS: Mapping[Function, tuple[Function, ...]] = MappingProxyType({"mcp": ("start", "status", "intervene")})
"""Function -> the functions whose handlers it contains and calls in the same process (ADR 94)."""
CATCH_ALL: Function = "fallback"
_OF_A_QUERY = "%&=+/?:@!$'()*,;~"
"""What a query has as it is; a line end in it would be a header of its own."""
DEFAULT_KEY = "$default"
"""The gateway's name for the route of requests that no other route fits."""
OPEN_KEYS = (DEFAULT_KEY, *(str(row) for row in OPERATIONS if row.role is None))
"""The gateway's names for what is reachable without a token."""
_BY_KEY = {str(row): row for row in OPERATIONS}
# fmt: on


class MethodNotAllowed(CallerError):
    """The path takes other methods, which the header `Allow` names."""

    code = "METHOD_NOT_ALLOWED"

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__(f"This path takes {', '.join(allowed)}.")
        self.allowed = allowed


def operations_in(function: Function) -> tuple[Operation, ...]:
    """The operations that the function answers, and those that it calls in the same process."""
    return tuple(row for row in OPERATIONS if row.function in (function, *ASKS.get(function, ())))


def find(route_key: str, method: str, path: str) -> Operation:
    """The operation whose route API Gateway found: `route_key` is its event's `routeKey`, `path` what was asked for.

    Raises NotFound, or MethodNotAllowed where only other methods have the path.
    """
    found = _BY_KEY.get(route_key)
    # The gateway reads //v1/sessions as /v1/sessions. Acta does not: one resource has one path.
    if found is not None and path.startswith(found.prefix):
        return found
    methods = {each.method for each in OPERATIONS if fits(each.path, path.rstrip("/"))}
    if methods and method not in methods:
        raise MethodNotAllowed(tuple(sorted(methods)))
    raise NotFound("There is nothing at this path.")


def without_slash(method: str, path: str, query: str) -> str | None:
    """Where to send a request whose path ends with slashes, if there is a route without them. The gateway takes no
    route that ends with a slash (ADR 174). So the request that is sent again is authorized and recorded, and this one
    is not.
    """
    bare = path.rstrip("/")
    if bare == path or not any(row.method == method and fits(row.path, bare) for row in OPERATIONS):
        return None
    place = quote(bare, safe="/%")
    return f"{place}?{quote(query, safe=_OF_A_QUERY)}" if query else place


def fits(pattern: str, path: str) -> bool:
    """A variable stands for one part of the path or, as `{name+}`, for all the rest of it; it is never empty."""
    wanted = pattern.split("/")
    parts = path.split("/", len(wanted) - 1 if pattern.endswith("+}") else -1)
    return len(parts) == len(wanted) and all(
        bool(part) if name.startswith("{") else part == name for name, part in zip(wanted, parts, strict=True)
    )
