"""The preset dictionary for compressing stored documents: field names and phrases that most commits have.

With it a small commit takes less than half of the bytes that zlib alone needs, and costs one write unit instead of two
or three. A compressed document names its dictionary by a checksum. So never change a dictionary: add another one, and
keep the old one as long as documents exist that need it.
"""

import zlib

_FIRST = (
    # The rarest phrases come first: zlib takes fewer bits to point to phrases near the end.
    '{"intervention_id":"int_01","session_id":"ses_01","type":"clarification_needed","type":"error_recovery",'
    '"type":"budget_exceeded","type":"checkpoint_review","type":"approval_required","context":{"question":"","reason":'
    '""},"tool_call":{"call_id":"call_01","name":"delete_file","input":{"path":""},"input_hash":""},"options":["answer'
    '","cancel"],["approve","reject","modify"],"default_action":"reject","timeout_at":"2026-","warned":true,"state":'
    '"pending","resolution":null,"input":null,"comment":null,"resolved_by":null,"resolved_at":null,"created_at":"2026-'
    '"}],"result":{"goal_met":true,"answer":"GOAL_COMPLETE","reason":"plan_completed","message_id":"msg_01"},"error":{'
    '"code":"PROVIDER_","message":""},"wait":{"token":"","turn":'
    '"type":"run.finished","type":"plan.created","type":"plan.closed","type":"plan.rejected","type":"message.user",'
    '"type":"intervention.opened","type":"intervention.resolved","type":"budget.warning","type":"hint.injected",'
    '"data":{"intervention_id":"int_01","type":"","option":"","resolved_by":"","goal_met":true,"reason":"","version":1,'
    '"plan":{"version":1,"goal":"completed","failed","cancelled","idle","planning","waiting_for_user"'
    # a step of the conversation
    ',"events":[{"seq":1,"at":"2026-01-0","type":"run.started","step_number":null,"data":{}},{"seq":2,"at":"2026-01-0",'
    '"type":"state.changed","step_number":2,"data":{"from":"executing","to":"waiting_for_tool","reason":null}},{"seq":'
    '3,"at":"2026-01-0","type":"thought","step_number":3,"data":{"message_id":"msg_01"}},{"seq":4,"at":"2026-01-0",'
    '"type":"message.assistant","step_number":4,"data":{"message_id":"msg_01","plan_step":1,"from":"pending","status":'
    '"in_progress"}},{"seq":5,"at":"2026-01-0","type":"plan.step","step_number":5,"data":{"plan_step":2,"from":'
    '"in_progress","status":"completed"}},{"seq":6,"at":"2026-01-0","type":"tool.requested","step_number":6,"data":{'
    '"call_id":"call_01","effect_id":"eff_01","name":"create_file","input_hash":"0"}},{"type":"tool.started","step_'
    'number":7,"data":{"type":"tool.finished","step_number":8,"data":{"call_id":"call_01","effect_id":"eff_01","name":'
    '"list_files","input_hash":"0","ok":true,"duration_ms":1,"bytes":1}}],"entries":[{"kind":"user","message_id":'
    '"msg_01","content":{"text":null,"blob":"0","bytes":1}},{"kind":"assistant","message_id":"msg_01","content":{"text"'
    ':"","blob":null,"bytes":0},"thinking":"","calls":[{"call_id":"call_01","effect_id":"eff_01","name":"update_plan",'
    '"input":{"action":"update_step","step_number":1,"step_status":"completed","step_result":""},"malformed":null,'
    '"input_content":null},{"call_id":"call_01","effect_id":"eff_01","name":"read_file","input":{"path":""},"malformed'
    '":null,"input_content":null}],"provider":"anthropic","openai","offline","raw":null,"private":null},{"kind":"tool",'
    '"call_id":"call_01","name":"read_file","content":{"text":"Error: ","blob":null,"bytes":1},"ok":true}],"delivered":'
    '[],"step":{"step_number":1,"kind":"tool","kind":"llm","name":null,"started_at":"2026-01-0","completed_at":"2026-01'
    '-0","duration_ms":1,"attempt":0,"input_tokens":0,"output_tokens":0,"cached_input_tokens":0,"cost_usd":0.0,"error":'
    'null},"decision":{"next":"think","at":{"tenant":"","session_id":"ses_01","run_id":"run_01","generation":1,"turn":1'
    ',"first":1},"calls":["call_01"],"wait_seconds":null,"then":null,"wake_at":null}}'
    # the head
    '{"version":1,"number":1,"key":"run_01/1/1/think","key":"run_01/call_01/finish","at":"2026-01-0","head":{"version":1'
    ',"tenant":"","session_id":"ses_01","agent_id":"default","created_by":"","state":"waiting_for_tool","state":'
    '"executing","state_reason":null,"goal":"","created_at":"2026-01-0","updated_at":"2026-01-0","run":{"run_id":'
    '"run_01","generation":1,"iteration":1,"turn":1,"first":1,"max_steps":50,"events":1},"plan":{"version":1,"goal":"",'
    '"steps":[{"step_number":1,"description":"","tool":"list_files","input":{},"requires_permission":true,"status":'
    '"skipped","result":"","evidence":["call_01"],"started_at":"2026-01-0","completed_at":"2026-01-0"},{"step_number":2'
    ',"description":"","tool":"read_file","input":null,"requires_permission":false,"status":"completed","result":"",'
    '"evidence":["call_01","call_01"],"started_at":"2026-01-0","completed_at":"2026-01-0"},{"step_number":3,'
    '"description":"","tool":"read_file","input":{"path":""},"requires_permission":false,"status":"in_progress",'
    '"result":null,"evidence":[],"started_at":"2026-01-0","completed_at":null},{"step_number":4,"description":"","tool":'
    'null,"input":null,"requires_permission":false,"status":"pending","result":null,"evidence":[],"started_at":null,'
    '"completed_at":null}],"current_step_index":1,"status":"executing","risks":[],"created_at":"2026-01-0","updated_at":'
    '"2026-01-0"},"usage":{"input_tokens":1,"output_tokens":1,"cached_input_tokens":0,"llm_calls":1,"tool_calls":1,'
    '"cost_usd":0.0},"budget":{"token_budget":50000,"cost_budget_usd":null},"interventions":[],"result":null,"error":'
    'null,"metadata":{},"review_every":0,"max_steps":50,"last_seq":1,"last_step":1,"calls":[{"call_id":"call_01","name":'
    '"read_file","state":"started","state":"done","state":"ready","amended":null}],"undelivered":[],"progress":{'
    '"text_replies":0,"planning_attempts":0,"provider_waits":0,"hint":""},"wait":null},"events":[{"seq":1,"at":"2026-01-0","type":"'
)  # fmt: skip

CURRENT = _FIRST.encode()
BY_CHECKSUM = {zlib.adler32(phrases): phrases for phrases in (CURRENT,)}
