import assert from "node:assert";
import { test } from "node:test";

import { fileAddress, numbered, pathOf, placeOf, split } from "./file-names";

const only =
  (...paths: string[]) =>
  (path: string): Promise<boolean> =>
    Promise.resolve(paths.includes(path));

test("a file whose name is free goes where it wants to, by whatever rule", async () => {
  for (const rule of ["both", "replace", "skip"] as const) {
    assert.equal(await placeOf("a.md", rule, only()), "a.md");
  }
});

test("a name that exists gets the next free number, is replaced, or stays out", async () => {
  const isThere = only("in/a.md", "in/a (2).md");
  assert.equal(await placeOf("in/a.md", "both", isThere), "in/a (3).md");
  assert.equal(await placeOf("in/a.md", "replace", isThere), "in/a.md");
  assert.equal(await placeOf("in/a.md", "skip", isThere), undefined);
});

test("a number stands before the ending, and after a name that has none", () => {
  assert.equal(numbered("v1.2/notes.md", 2), "v1.2/notes (2).md");
  assert.equal(numbered("v1.2/notes", 2), "v1.2/notes (2)");
  assert.equal(numbered(".env", 2), ".env (2)");
});

test("a folder may be written with or without slashes around it, and accents become one character", () => {
  assert.equal(pathOf("", "a"), "a");
  assert.equal(pathOf(" /in/deep/ ", "a"), "in/deep/a");
  assert.equal(pathOf("~/", "a"), "~/a");
  assert.equal(pathOf("", "e\u0301.md"), "\u00e9.md");
  assert.equal(pathOf("in", " 4.42\u202fPM.png"), "in/4.42 PM.png");
  assert.equal(pathOf("", "~$a.docx"), "_$a.docx");
});

test("a path is cut at its last slash, and its address has each part as URLs write it", () => {
  assert.deepEqual(split("a/b/c.md"), ["a/b/", "c.md"]);
  assert.deepEqual(split("c.md"), ["", "c.md"]);
  assert.equal(fileAddress("a b/#?.md"), "/v1/files/a%20b/%23%3F.md");
  assert.equal(fileAddress("100% %2.md"), "/v1/files/100%25%20%252.md");
});
