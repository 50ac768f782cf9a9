import assert from "node:assert";
import { test } from "node:test";

import { withFiles } from "./goal-text";

test("a goal without files is sent as it was written", () => {
  assert.equal(withFiles(" Count the words \n", []), "Count the words");
  assert.equal(withFiles("Count", [{ name: "a.md" }]), "Count");
});

test("the paths under which files were stored stand below the goal", () => {
  const stored = [{ name: "a.md", path: "in/a (2).md" }, { name: "left-out.md" }];
  assert.equal(withFiles("Count", stored), "Count\n\nFiles:\n- in/a (2).md");
});
