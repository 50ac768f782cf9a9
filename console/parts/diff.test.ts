import assert from "node:assert/strict";
import { test } from "node:test";

import { differences } from "./diff";

test("lines that were added and removed are told apart, and what is far from them is skipped", () => {
  const same = Array.from({ length: 20 }, (_, number) => `line ${number}`);
  const parts = differences([...same, "old"].join("\n"), [...same, "new"].join("\n"));
  assert.deepEqual(parts?.map((each) => each.kind), ["skipped", "same", "removed", "added"]);
  assert.deepEqual(parts?.map((each) => each.lines.length), [17, 3, 1, 1]);
});

test("texts that nobody would compare by eye are not compared", () => {
  assert.equal(differences("a".repeat(200_000), "b"), undefined);
});
