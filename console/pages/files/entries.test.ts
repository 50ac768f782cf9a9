import assert from "node:assert";
import { test } from "node:test";

import { entriesOf, wayTo } from "./entries";

const file = (path: string, bytes = 1, modified_at = "2026-01-01T00:00:00.000Z") => ({ path, bytes, modified_at });

test("folders come first with their sums and their newest date, then files by name", () => {
  const found = entriesOf("in/", [
    file("in/b10.md"),
    file("in/b9.md"),
    file("in/z/1", 10),
    file("in/z/deep/2", 5, "2026-02-01T00:00:00.000Z"),
  ]);
  assert.deepEqual(
    found.map(({ name, bytes, files }) => [name, bytes, files]),
    [
      ["z/", 15, 2],
      ["b9.md", 1, undefined],
      ["b10.md", 1, undefined],
    ],
  );
  assert.equal(found[0]?.path, "in/z/");
  assert.equal(found[0]?.modifiedAt, "2026-02-01T00:00:00.000Z");
});

test("a folder called as a property of objects is a folder", () => {
  assert.deepEqual(
    entriesOf("", [file("__proto__/a"), file("constructor/b")]).map(({ name }) => name),
    ["__proto__/", "constructor/"],
  );
});

test("the way to a file is its folders, and private ones begin with their own name", () => {
  assert.deepEqual(wayTo("a/b/c.md"), [
    ["a/", "a"],
    ["a/b/", "b"],
  ]);
  assert.deepEqual(wayTo("~/c.md"), [["~/", "My own files"]]);
  assert.deepEqual(wayTo("c.md"), []);
});
