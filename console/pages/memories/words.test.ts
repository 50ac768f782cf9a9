import assert from "node:assert";
import { test } from "node:test";

import { byWhom, tagsOf } from "./words";

test("tags are separated by commas, and each stands once", () => {
  assert.deepEqual(tagsOf(" a, b c ,, a"), ["a", "b c"]);
  assert.deepEqual(tagsOf("  "), []);
});

test("whose words a memory has is said by its source", () => {
  assert.equal(byWhom({ origin: "person", source: { user: "ann" } }), "Written by ann");
  assert.equal(byWhom({ origin: "agent", source: { session_id: "s" } }), "Noted by an agent");
  assert.equal(
    byWhom({ origin: "agent", source: { session_id: "s", user: "ann" } }),
    "Noted by an agent, last changed by ann",
  );
});
