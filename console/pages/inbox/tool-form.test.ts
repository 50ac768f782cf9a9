import assert from "node:assert/strict";
import { test } from "node:test";

import { write } from "../../api/exact-json";
import { choicesOf, typed } from "./tool-form";

test("what was typed has its field's type, and what was left empty is left out", () => {
  const properties = {
    name: { type: "string" },
    days: { type: "integer" },
    share: { type: "number", default: 0.5 },
    urgent: { type: "boolean" },
    reasons: { type: "array" },
  };
  const sent = (values: Parameters<typeof typed>[1]) => write(typed(properties, values));
  assert.equal(sent({ name: "", days: "7", reasons: [] }), '{"days":7,"share":0.5,"urgent":false}');
  assert.equal(sent({ share: "", urgent: true, reasons: ["tax"] }), '{"urgent":true,"reasons":["tax"]}');
  assert.equal(sent({ days: "9007199254740993", share: "0.100000000000000001" }), '{"days":9007199254740993,"share":0.100000000000000001,"urgent":false}');
});

test("choices are shown by the names that the server gives them", () => {
  assert.deepEqual(choicesOf({ enum: ["EUR", "USD"] }), [["EUR", "EUR"], ["USD", "USD"]]);
  assert.deepEqual(choicesOf({ enum: ["EUR", "USD"], enumNames: ["Euro"] }), [["EUR", "Euro"], ["USD", "USD"]]);
  assert.deepEqual(choicesOf({ oneOf: [{ const: "a", title: "First" }, { const: "b" }] }), [["a", "First"], ["b", "b"]]);
  assert.deepEqual(choicesOf({ anyOf: [{ const: 1 }] }), [["1", "1"]]);
  assert.equal(choicesOf({}), undefined);
});
