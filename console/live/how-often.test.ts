import assert from "node:assert/strict";
import { test } from "node:test";

import { Refused } from "../api/refused";
import { pauseAfter } from "./how-often";

test("each failure in a row doubles the pause, up to a minute", () => {
  const longest = [1, 2, 3, 4, 20].map((failures) => pauseAfter(failures, new Error(), 1));
  assert.deepEqual(longest, [1_000, 2_000, 4_000, 8_000, 60_000]);
});

test("tabs do not come back together", () => {
  assert.ok(pauseAfter(4, new Error(), 0) < pauseAfter(4, new Error(), 1));
  assert.equal(pauseAfter(4, new Error(), 0), 4_000);
});

test("who says when is asked then", () => {
  assert.equal(pauseAfter(1, new Refused(429, "RATE_LIMITED", "", {}, 7)), 7_000);
});

test("only what may pass is tried again by itself", () => {
  assert.ok(new Refused(503, "UNAVAILABLE", "").isPassing);
  assert.ok(new Refused(0, "UNREACHABLE", "").isPassing);
  assert.ok(!new Refused(404, "NOT_FOUND", "").isPassing);
});
