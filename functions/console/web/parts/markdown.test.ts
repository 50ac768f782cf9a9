import assert from "node:assert/strict";
import { test } from "node:test";

import { target, tokensOf } from "./markdown";

test("a text is read as Markdown", () => {
  assert.deepEqual(tokensOf("# A\n\n- b")?.map((each) => each.type), ["heading", "space", "list"]);
});

test("what takes too long to read stays text", () => {
  for (const text of [
    "_a_".repeat(10_000),
    `${"a.".repeat(10_000)}@`,
    "~~a~".repeat(5_000),
    "> ".repeat(500) + "a",
    "- ".repeat(500) + "a",
    "word ".repeat(50_000),
  ])
    assert.equal(tokensOf(text), undefined);
});

test("long code, tables and lists are Markdown still", () => {
  const lines = (line: string) => `${line}\n`.repeat(400);
  for (const text of ["```\n" + lines("let a = 1;") + "```", lines("| a cell | b |"), lines("- an item of it")])
    assert.notEqual(tokensOf(text), undefined);
});

test("only addresses of the web and of mail are links", () => {
  assert.equal(target("https://a.example/b")?.host, "a.example");
  assert.equal(target("mailto:a@b.example")?.protocol, "mailto:");
  for (const href of ["javascript:alert(1)", "data:text/html,x", "/console/inbox", "vbscript:x", " java\nscript:x"])
    assert.equal(target(href), undefined);
});
