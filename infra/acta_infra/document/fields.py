"""What the fields of request bodies mean. Answers have their words in the `shapes` modules of the engine's rooms."""

from collections.abc import Mapping
from types import MappingProxyType

VERSION = "The version that it replaces; with another one in force: 409."
APPLIED = (
    "The set of files that owns it, and the digest of its file. Absent: as it was. null: no set owns it."
)
COMMENT = "Why, for those who read the versions."
LIMITS = {
    "max_steps": "Iterations of a run, after which it ends gracefully.",
    "token_budget": "Tokens of a window, after which a run waits or asks.",
    "cost_budget_usd": "US dollars of the whole session.",
}
AGENT = {
    "name": "What people call it.",
    "system_prompt": "Who the agent is. Acta adds how an agent works.",
    "goal": "What the agent is there for, as a part of the system prompt.",
    "provider": "Whose models. null: the deployment's.",
    "model": "Its model. null: the deployment's.",
    "models": "Models for purposes of their own.",
    "fallbacks": "Models that are asked, in this order, where the one before is overloaded or away.",
    "tools": "Names of tools. Empty: every tool of the registry.",
    "limits": "What its sessions get where their start names nothing.",
    "caps": "The most that members may give its sessions. Admins may go beyond.",
    "high_stakes": "Tools that a person must approve, beside those that the registry marks.",
    "start_roles": "One of these roles is needed to start its sessions and to write to them. Empty: any member may.",
    "protocol": "`native` tool calling, or `react` for models without it.",
    "background": "The provider makes its answers by itself and keeps them until they are fetched.",
    "interventions": "How people are asked, by type of question.",
    "output_schema": "JSON Schema 2020-12 of its sessions' final answers, where their start brings none.",
    "applied": APPLIED,
}
TOOL = {
    "name": "What agents call it.",
    "description": "What it does, for the model that chooses it.",
    "input_schema": "JSON Schema 2020-12 of an object. What it does not name is refused unless it says "
    "`additionalProperties` itself.",
    "kind": "How it is called.",
    "effect": "What becomes of a call whose end is not known: `read` runs again, `idempotent` runs again under the "
    "same id, `once` never runs again without a person.",
    "risk": "What it touches.",
    "high_stakes": "A person approves each call. Absent: by its name, effect and risk.",
    "approver_role": "The role that decides on its calls, whichever agent makes them.",
    "approver_must_differ": "Nobody who asked for a call may approve it. Absent: where it has an `approver_role`.",
    "repeatable": "Identical calls do not mean that a run is stuck.",
    "timeout_seconds": "Of one call.",
    "result_limit_bytes": "The model gets the beginning of a longer result; all of it is stored.",
    "config": "Where it is: `{url, method, headers?, parameters?}` of kind `http`, `{function}` of kind `lambda`.",
    "applied": APPLIED,
    "version": VERSION,
}
STEP_NUMBER = "Of a pending step."
PLAN_STEP = {
    "description": "What is to be done.",
    "tool": "The tool that the step mainly uses: one of the agent's.",
    "input": "What the tool takes, where that is known whole. At most 2,000 characters.",
    "requires_permission": "A person is asked before the step's tool runs. It can be added, and is lifted by an "
    "approval alone.",
}
MEMORY = {"kind": "What sort of memory.", "text": "What is to be remembered.", "tags": "Words to find it by."}
OF_A_START = {
    **LIMITS,
    "review_every": "A person reviews the work each so many turns. 1: single-stepping. 0: never.",
    "metadata": "Your own words, told with the session.",
    "notify_url": "Its own webhook, which is told of its questions and its end, beside the tenant's. It is not shown "
    "again. The host is one of those that the operator allows.",
}
BODIES: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "StartSession": (
            "What to start. Absent limits are the agent's, else the deployment's.",
            {
                "content": "The goal, in the user's words. Without it the session stays idle. At most 10,000 "
                "characters where the deployment does not say otherwise.",
                "agent_id": "Who works on it. Absent: `default`.",
                **OF_A_START,
                "visibility": "`private`: nobody else sees it. Absent: the deployment's default.",
                "prompts": "For admins: versions of managed prompts to try in this session, by name, instead of "
                "those in force.",
                "output_schema": "JSON Schema 2020-12 that the final answers have to fit (`result.data`), at most "
                "8,192 bytes; `$ref` leads to `#` or `#/$defs/NAME`, a `pattern` is one of RE2; `format` is not "
                "checked. Absent: the agent's.",
            },
        ),
        "ForkSession": (
            "What the fork is to be. What is absent is as for a start of the session's agent.",
            {
                "content": "What to do next. Without it the fork goes on with the run; where that had ended at that "
                "turn, the fork stays idle.",
                "at": "The number (`seq`) of an event: the fork has the conversation up to the end of its turn. "
                "Absent: of the newest turn that has ended.",
                "agent_id": "Another agent, with its models, prompt and tools. Absent: the session's.",
                **OF_A_START,
                "visibility": "`private`: nobody else sees it, and always so of a private session. Absent: the "
                "deployment's default.",
                "prompts": "For admins: versions of managed prompts to try in the fork, by name, instead of those in "
                "force. Absent: none, whatever the session tries.",
                "output_schema": "JSON Schema 2020-12 that the final answers have to fit. Absent: the session's, else "
                "the agent's.",
            },
        ),
        "PostMessage": (
            "What to say.",
            {"content": "At most 10,000 characters where the deployment does not say otherwise."},
        ),
        "ChangeLimits": (
            "New limits. Absent or null: as it was. A limit can be changed and not removed; only reviews end, with "
            "`review_every` 0.",
            {**LIMITS, "review_every": "A person reviews the work each so many turns. 0: never."},
        ),
        "EditPlan": (
            "What is to change, and why.",
            {
                "operations": "Carried out in this order, all or none.",
                "comment": "For the agent, in your words.",
            },
        ),
        "AddStep": (
            "A new step, with the next number. A plan has at most 10 open steps, and 20 with the finished ones.",
            {
                "op": "A new step.",
                **PLAN_STEP,
                "before": "The pending step that it comes before. Absent: it comes last.",
            },
        ),
        "ChangeStep": (
            "A pending step becomes another. Absent fields stay as they are; with another tool the input goes. null "
            "takes tool or input away.",
            {"op": "Another wording, tool or input.", "step_number": STEP_NUMBER, **PLAN_STEP},
        ),
        "SkipStep": (
            "A pending step is not done.",
            {
                "op": "Leaves a step out.",
                "step_number": STEP_NUMBER,
                "reason": "Why. It becomes the step's result.",
            },
        ),
        "ReorderSteps": (
            "The pending steps come in another order; the others keep their places.",
            {"op": "Another order.", "step_numbers": "All pending steps, in their new order."},
        ),
        "Resolve": (
            "A decision. Which options and inputs fit depends on the intervention's type.",
            {
                "option": "One of the intervention's `options`.",
                "input": "What the option takes.",
                "comment": "Why. Of a rejection the agent reads it.",
            },
        ),
        "CreateAgent": (
            "A whole definition. Absent fields take their defaults.",
            {**AGENT, "agent_id": "Its id. Absent: Acta makes one."},
        ),
        "PutAgent": ("A whole definition. Absent fields take their defaults.", {**AGENT, "version": VERSION}),
        "Models": (
            "Models by purpose. Absent: the agent's `model`.",
            {
                "plan": "Of planning turns.",
                "think": "Of the other turns.",
                "final": "Of the final answer.",
                "summary": "Of summaries.",
            },
        ),
        "Fallback": (
            "A model that is asked in another's place.",
            {"provider": "Absent: the agent's.", "model": "Its name."},
        ),
        "Limits": (
            "Of the agent's sessions, where their start names none. Absent: the deployment's.",
            {
                **LIMITS,
                "max_output_tokens": "Of one reply.",
                "approval_timeout_seconds": "How long an approval waits.",
                "at_token_limit": "Whether a run out of tokens waits for its budget to renew, or asks a person.",
            },
        ),
        "Caps": ("The most that members may give. Absent: no cap but the deployment's.", LIMITS),
        "Policy": (
            "How people are asked a type of question. Absent: as usual for the type.",
            {
                "timeout_seconds": "How long the question waits.",
                "default_action": "The option that holds when nobody decides. Never one that approves.",
                "role": "Who may decide.",
                "approver_must_differ": "Nobody who asked for the call may let it run.",
            },
        ),
        "CreateTool": ("A whole definition. Absent fields take their defaults.", TOOL),
        "PutTool": (
            "A whole definition. Absent fields take their defaults.",
            {**TOOL, "name": "The path's, or absent: a tool keeps its name."},
        ),
        "CallTool": (
            "A trial call.",
            {
                "input": "The arguments, as the tool's `input_schema` has them.",
                "confirm": "A tool of high stakes is to run: 409 without it.",
            },
        ),
        "PutMcpServer": (
            "A whole definition. Absent fields take their defaults.",
            {
                "name": "The path's, or absent: a server keeps its name.",
                "url": "Where it answers, streamable HTTP. https, of a host that the operator allows.",
                "auth": "How calls prove who they are. Absent: they do not.",
                "timeout_seconds": "Of one call.",
                "tools": "The tools that agents may have, by the server's names. Absent: those that are confirmed "
                "already; none where the URL changes.",
                "version": VERSION,
                "applied": APPLIED,
            },
        ),
        "McpAuth": (
            "One of both.",
            {
                "secret": "The secret that is the whole value of the header `Authorization`.",
                "client_credentials": "Tokens by OAuth 2.0 client credentials.",
            },
        ),
        "ClientCredentials": (
            "OAuth 2.0 client credentials.",
            {
                "client_id": "As the authorization server knows Acta.",
                "secret": "The secret that is the client's.",
                "token_url": "Where tokens come from. Absent: the server's metadata say so.",
                "issuer": "The authorization server that the metadata have to name. Absent: whichever they name.",
                "scope": "What the token is to be good for. Absent: what the server asks for.",
            },
        ),
        "ConfirmMcpTools": (
            "Tools to confirm, beside those that are confirmed already.",
            {"tools": "By the server's names for them."},
        ),
        "ConfirmMcpTool": (
            "A tool that agents may have.",
            {
                "pin": "Of what you have seen: a refresh shows it.",
                "confirmed_read": "It only reads, as its server says.",
                "high_stakes": "A person approves each call. Absent: unless it only reads.",
                "approver_role": "Who decides on its calls.",
            },
        ),
        "PutToolSecret": (
            "A new value.",
            {
                "value": "It is never answered. 8 to 4,096 printable ASCII characters, no space at either end.",
                "hosts": "Where tools may send it, `host` or `host:port`; empty: wherever tools may go. "
                "Absent: as before.",
            },
        ),
        "PutNotifications": (
            "Where the tenant is told.",
            {
                "url": "Its webhook, https, of a host that the operator allows. null: only sessions with a "
                "`notify_url` are told of.",
                "secret": "What notifications are signed with. It is never answered. 16 to 512 printable ASCII "
                "characters without a space, or `whsec_` and the base64 of 16 bytes or more. Absent: as before.",
            },
        ),
        "CreateMemory": ("A memory.", {**MEMORY, "agent_id": "Whose sessions are reminded of it."}),
        "PutMemory": (
            "The whole memory.",
            {
                **MEMORY,
                "shared": "true: everybody's sessions may be reminded of it from now on. Absent: whom it is for stays.",
            },
        ),
        "PutPrompt": (
            "A new version.",
            {
                "content": "The text.",
                "comment": COMMENT,
                "expected_version": "The version that it follows; with another one in force: 409.",
                "active": "Whether it is in force from now on. false: a draft, which `prompts` of a start or a fork "
                "tries.",
                "applied": APPLIED,
            },
        ),
        "RestorePrompt": (
            "How it is restored.",
            {
                "comment": COMMENT,
                "expected_version": "The version that it follows; with another one in force: 409.",
            },
        ),
    }
)
