"""Inputs of `update_plan` that break a rule, the code of their refusal, and words the model has to be told."""

import json
from typing import Any

from tests.runs.planner import ONE

Bad = tuple[dict[str, Any], str, str]
"""For a plan: what differs from a good one; None leaves a field out."""

HUGE = "x" * 200_000
BOUND = 1_000
"""Characters of a refusal, however much was sent."""

BAD_PLANS: dict[str, Bad] = {
    "no steps": ({"steps": []}, "STEP_COUNT", "1 to 10 steps, this one has 0"),
    "steps left out": ({"steps": None}, "STEP_COUNT", "this one has 0"),
    "eleven steps": ({"steps": ONE * 11}, "STEP_COUNT", "this one has 11"),
    "a thousand steps": ({"steps": ONE * 1_000}, "STEP_COUNT", "this one has 1000"),
    "a blank goal": ({"goal": " \n"}, "GOAL_BLANK", "goal"),
    "no goal": ({"goal": None}, "GOAL_BLANK", "goal"),
    "duplicate numbers": (
        {"steps": [{"description": "a", "step_number": 2}, {"description": "b", "step_number": 2}]},
        "DUPLICATE_STEP",
        "same step_number",
    ),
    "an unknown tool": ({"steps": [{"description": "a", "tool": "read_fiel"}]}, "UNKNOWN_TOOL", "read_file"),
    "a tool like no other": ({"steps": [{"description": "a", "tool": "zzz"}]}, "UNKNOWN_TOOL", "list_files"),
    "a blank description": ({"steps": [{"description": "  "}]}, "SCHEMA", "steps.0.description"),
    "no description": ({"steps": [{"tool": "read_file"}]}, "SCHEMA", "steps.0.description"),
    "a huge description": ({"steps": [{"description": HUGE}]}, "SCHEMA", "at most 1000 characters"),
    "a huge goal": ({"goal": HUGE}, "SCHEMA", "at most 2000 characters"),
    "a huge tool name": ({"steps": [{"description": "a", "tool": HUGE}]}, "SCHEMA", "steps.0.tool"),
    "a huge input": ({"steps": [{"description": "a", "input": {"text": HUGE}}]}, "SCHEMA", "too long for a plan"),
    "an input of many small values": (
        {"steps": [{"description": "a", "input": {"a": [[]] * 100}}]},
        "SCHEMA",
        "at most 100 are taken; leave it out of the plan",
    ),
    "an input of many lists inside each other": (
        {"steps": [{"description": "a", "input": {"a": json.loads("[" * 90 + "]" * 90), "b": [[]] * 10}}]},
        "SCHEMA",
        "leave it out of the plan",
    ),
    "an input that its tool does not take": (
        {"steps": [{"description": "a", "tool": "read_file", "input": {"file": "a.txt"}}]},
        "STEP_INPUT",
        "does not fit read_file: file is not a field; path is missing",
    ),
    "an input with a path that no store takes": (
        {"steps": [{"description": "a", "tool": "create_file", "input": {"path": "../a", "content": "x"}}]},
        "STEP_INPUT",
        "leave `input` out",
    ),
    "an input with huge names": (
        {"steps": [{"description": "a", "tool": "read_file", "input": {"x" * 1_500: 1}}]},
        "STEP_INPUT",
        "read_file",
    ),
    "steps as a text": ({"steps": "first this, then that"}, "SCHEMA", "array of steps"),
    "steps as an object": ({"steps": {"1": "this"}}, "SCHEMA", "array of steps"),

    "a number in words": ({"steps": [{"description": "a", "step_number": "one"}]}, "SCHEMA", "whole number"),
    "a number as a truth": ({"steps": [{"description": "a", "step_number": True}]}, "SCHEMA", "whole number"),
    "a broken number": ({"steps": [{"description": "a", "step_number": 1.5}]}, "SCHEMA", "step_number"),
    "number zero": ({"steps": [{"description": "a", "step_number": 0}]}, "SCHEMA", "step_number"),
    "a truth as a text": (
        {"steps": [{"description": "a", "requires_permission": "no"}]},
        "SCHEMA",
        "requires_permission",
    ),
    "an unknown field": ({"session_id": "ses_of_somebody"}, "SCHEMA", "session_id"),
    "an unknown field of a step": ({"steps": [{"description": "a", "status": "completed"}]}, "SCHEMA", "status"),
    "a huge unknown field": ({HUGE: 1}, "SCHEMA", "Extra inputs"),
    "an unknown action": ({"action": "dance"}, "SCHEMA", "action"),
    "a huge action": ({"action": HUGE}, "SCHEMA", "action"),
}  # fmt: skip

BAD_UPDATES: dict[str, Bad] = {
    "a step that is not there": (
        {"action": "update_step", "step_number": 9, "step_status": "completed", "step_result": "r"},
        "NO_SUCH_STEP",
        "it has 1, 2",
    ),
    "no step": ({"action": "update_step", "step_status": "completed"}, "SCHEMA", "step_number"),
    "a status of its own": (
        {"action": "update_step", "step_number": 1, "step_status": "nearly"},
        "SCHEMA",
        "step_status",
    ),
    "a huge number": (
        {"action": "update_step", "step_number": 10**4_000, "step_status": "failed"},
        "SCHEMA",
        "step_number",
    ),
    "done without a result": (
        {"action": "update_step", "step_number": 1, "step_status": "completed"},
        "NO_RESULT",
        "step_result",
    ),
    "a huge result": (
        {"action": "update_step", "step_number": 1, "step_status": "completed", "step_result": HUGE},
        "SCHEMA",
        "step_result",
    ),
    "completed with open steps": ({"action": "complete", "reason": "r"}, "OPEN_STEPS", "steps 1, 2"),
    "failed without a reason": ({"action": "fail"}, "NO_REASON", "reason"),
    "a question without words": ({"action": "wait_for_user", "reason": " "}, "NO_REASON", "reason"),
}
