"""Questions to people, and their decisions."""

from typing import get_args

from infra.document.operations.operation import PAGING, Operation, ok, searched_page_of
from infra.document.operations.sessions import SESSION
from shared.api.response.shapes.interventions import CallInput, DecidedOfDeleted, Intervention
from shared.domain.interventions.intervention import InterventionState

STATES = [*get_args(InterventionState), "all"]
ONE = {**SESSION, "intervention_id": "The intervention's id."}

INTERVENTIONS = {
    "GET /v1/interventions": Operation(
        "listInterventions",
        "Interventions",
        "What waits, or waited, for people",
        (searched_page_of(Intervention, "Newest first; of sessions that you may see."),),
        parameters={"state": "Only those in this state.", **PAGING},
        values={"state": {"type": "string", "enum": STATES}},
    ),
    "GET /v1/sessions/{session_id}/interventions": Operation(
        "listInterventionsOfSession",
        "Interventions",
        "What waits for people in a session, and what was decided",
        (searched_page_of(Intervention, "Pending ones oldest first, others newest first."),),
        codes=("SESSION_NOT_FOUND",),
        parameters={**SESSION, "state": "Only those in this state.", **PAGING},
        values={"state": {"type": "string", "enum": STATES}},
    ),
    "GET /v1/sessions/{session_id}/interventions/{intervention_id}": Operation(
        "readIntervention",
        "Interventions",
        "One question",
        (ok(Intervention, says="The question, and its decision where there is one."),),
        codes=("SESSION_NOT_FOUND", "INTERVENTION_NOT_FOUND"),
        parameters=ONE,
    ),
    "GET /v1/sessions/{session_id}/interventions/{intervention_id}/input": Operation(
        "readCallInput",
        "Interventions",
        "The whole input of the call that is decided on",
        (ok(CallInput, says="The input as it would run."),),
        codes=("SESSION_NOT_FOUND", "INTERVENTION_NOT_FOUND"),
        parameters={**ONE, "call_id": "Which call of a review; needed where it has more than one."},
    ),
    "POST /v1/sessions/{session_id}/interventions/{intervention_id}/resolve": Operation(
        "resolveIntervention",
        "Interventions",
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
        codes=(
            "SESSION_NOT_FOUND",
            "INTERVENTION_NOT_FOUND",
            "CONFLICT",
            "IDEMPOTENCY_MISMATCH",
            "APPROVER_MUST_DIFFER",
        ),
        takes=("Idempotency-Key",),
        bodies={
            "approve": {"option": "approve", "comment": "It is a copy."},
            "reject": {"option": "reject", "comment": "Move it to archive/ instead."},
        },
        parameters=ONE,
    ),
}
