import assert from "node:assert/strict";
import { test } from "node:test";

import { dollars } from "./amounts";

test("small amounts of money are not nothing", () => {
  assert.deepEqual([0, 0.00123, 0.994, 0.996, 12.345].map(dollars), ["$0", "$0.0012", "$0.99", "$1.00", "$12.35"]);
});
