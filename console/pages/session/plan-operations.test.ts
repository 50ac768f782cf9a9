import assert from "node:assert/strict";
import { test } from "node:test";

import { operations } from "./plan-operations";

const step = (step_number: number, description: string) => ({ step_number, description, status: "pending" }) as never;
const pending = [step(2, "read"), step(3, "write"), step(5, "check")];
const draft = (number: number, description: string, isSkipped = false) => ({ number, description, isSkipped });
const same = [draft(2, "read"), draft(3, "write"), draft(5, "check")];

test("a plan that nobody changed needs no operation", () => {
  assert.deepEqual(operations(pending, same), []);
});

test("a step that is skipped, changed or new is one operation each", () => {
  const drafts = [draft(2, "read", true), draft(3, " write it "), draft(5, "check"), { description: "tell", isSkipped: false }];
  assert.deepEqual(operations(pending, drafts), [
    { op: "skip", step_number: 2 },
    { op: "edit", step_number: 3, description: "write it" },
    { op: "add", description: "tell" },
  ]);
});

test("another order names all steps that are still to be done", () => {
  assert.deepEqual(operations(pending, [same[2]!, same[0]!, same[1]!]), [{ op: "reorder", step_numbers: [5, 2, 3] }]);
  assert.deepEqual(operations(pending, [same[2]!, draft(2, "read", true), same[1]!]), [
    { op: "skip", step_number: 2 },
    { op: "reorder", step_numbers: [5, 3] },
  ]);
});

test("a new step without words is none", () => {
  assert.deepEqual(operations(pending, [...same, { description: " ", isSkipped: false }]), []);
});
