import assert from "node:assert";
import { test } from "node:test";

import type { Session } from "../../api/shapes";
import { before, stateInWords } from "../../parts/session-state";
import { why } from "./why";

const ended = (goal_met: boolean, reason: string) =>
  ({ state: "completed", state_reason: reason, result: { goal_met, reason, answer: null, data: null } }) as Session;

test("a run whose goal is not met is not said to have done all of its plan", () => {
  for (const reason of ["plan_completed", "goal_complete"]) {
    assert.equal(stateInWords(ended(false, reason)).text, "Ended without the goal");
    assert.equal(why(ended(false, reason)), "A step of its plan failed.");
  }
  assert.equal(why(ended(false, "max_steps")), "It had no turns left.");
  assert.equal(why(ended(true, "plan_completed")), "Its plan is finished.");
});

test("of a line it is said how many of the tenant were before", () => {
  assert.deepEqual([0, 1, 12].map(before), [
    "first of this tenant",
    "1 session of this tenant before it",
    "12 sessions of this tenant before it",
  ]);
});
