import assert from "node:assert/strict";
import { test } from "node:test";

import { inSight, rowsOf } from "./trace-rows";

let seq = 0;
const event = (type: string, step_number: number | null, data: object = {}, text: string | null = null) =>
  ({ seq: ++seq, at: "2026-01-01T00:00:00Z", type, text, step_number, data }) as never;
const run = () => [
  event("message.user", null, { content: "Go" }),
  event("thought", 2, { content: "I read\nit." }),
  event("plan.step", 2, { plan_step: 1, status: "in_progress" }, "step 1 in progress"),
  event("tool.requested", 2, { call_id: "c", name: "read_file", input: { path: "a" } }),
  event("tool.started", null, { call_id: "c" }),
  event("tool.finished", 3, { call_id: "c", ok: false, duration_ms: 5, bytes: 9 }),
];

test("a thought has its calls below it, and a call its input and its observation", () => {
  const rows = rowsOf(run());
  assert.deepEqual(
    rows.map(({ depth, name, text, mark }) => [depth, name, text, mark]),
    [
      [0, "Message", "Go", ""],
      [0, "Thought", "I read it.", ""],
      [1, "", "Step 1 in progress", ""],
      [1, "Call", 'read_file {"path":"a"}', "✗"],
      [2, "Input", '{"path":"a"}', ""],
      [2, "Observation", "failed, 5 ms, 9 bytes", ""],
    ],
  );
  assert.equal(new Set(rows.map((each) => each.key)).size, rows.length);
});

test("calls are shut at first, and what is shut hides what is below it", () => {
  const rows = rowsOf(run());
  const shown = (...turned: string[]) => inSight(rows, new Set(turned)).map((each) => each.name);
  assert.deepEqual(shown(), ["Message", "Thought", "", "Call"]);
  assert.equal(shown(rows[3]!.key).length, 6);
  assert.deepEqual(shown(rows[1]!.key, rows[3]!.key), ["Message", "Thought"]);
});

test("calls of a reply without words stand below a row of their own", () => {
  const rows = rowsOf([event("tool.requested", 7, { call_id: "c", name: "n" })]);
  assert.deepEqual(rows.map((each) => each.depth), [0, 1, 2, 2]);
});

test("any other event is shown in the API's words, and one without words is not shown", () => {
  const rows = rowsOf([event("moon.rose", null, {}, 'the moon rose, by "eve"'), event("run.finished", null)]);
  assert.deepEqual(rows.map(({ name, text, isTheirs }) => [name, text, isTheirs]), [["", 'The moon rose, by "eve"', true]]);
});

test("a call whose input is too long for its event is named by the path that it wrote", () => {
  const rows = rowsOf([
    event("tool.requested", 2, { call_id: "c", name: "create_file" }),
    event("tool.finished", 3, { call_id: "c", ok: true, duration_ms: 5, bytes: 9, path: "report.md" }),
  ]);
  assert.deepEqual(rows.filter(({ kind }) => kind === "call").map(({ text }) => text), ["create_file report.md"]);
});
