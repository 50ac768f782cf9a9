import assert from "node:assert/strict";
import { test } from "node:test";

import { blocksOf, inlineOf, target } from "./markdown-reader";

test("blocks are what they look like", () => {
  const text = "# A #b\n\nwords\nof it\n- one\n  - in\n- two\n\n3. three\n\n> said\n\n```js\n# code\n```\n---\n| a | b |\n|---|---|\n| 1 | 2 |";
  assert.deepEqual(blocksOf(text), [
    { kind: "heading", text: "A #b" },
    { kind: "paragraph", text: "words\nof it" },
    {
      kind: "list",
      first: undefined,
      items: [
        [
          { kind: "paragraph", text: "one" },
          { kind: "list", first: undefined, items: [[{ kind: "paragraph", text: "in" }]] },
        ],
        [{ kind: "paragraph", text: "two" }],
      ],
    },
    { kind: "list", first: 3, items: [[{ kind: "paragraph", text: "three" }]] },
    { kind: "quote", blocks: [{ kind: "paragraph", text: "said" }] },
    { kind: "code", text: "# code" },
    { kind: "rule" },
    { kind: "table", head: ["a", "b"], rows: [["1", "2"]] },
  ]);
});

test("words have emphasis, code and links", () => {
  assert.deepEqual(inlineOf("a **b** *c* ~~d~~ `e*` \\* x_y_z <b>"), [
    "a ",
    { kind: "strong", parts: ["b"] },
    " ",
    { kind: "em", parts: ["c"] },
    " ",
    { kind: "del", parts: ["d"] },
    " ",
    { kind: "code", text: "e*" },
    " ",
    "*",
    " x_y_z <b>",
  ]);
  assert.deepEqual(inlineOf("[w](https://a.example/b) https://c.example."), [
    { kind: "link", href: "https://a.example/b", raw: "[w](https://a.example/b)", parts: ["w"] },
    " ",
    { kind: "link", href: "https://c.example", raw: "https://c.example", parts: ["https://c.example"] },
    ".",
  ]);
});

test("an underscore within a word of any language is one", () => {
  for (const name of ["отчёт_за_май.txt", "文件_名称_测试", "فایل_من_است", "नाम_की_सूची", "e\u0301_e\u0301_e\u0301", "é_2_é", "𝒳_a_𝒳"])
    assert.deepEqual(inlineOf(name), [name]);
  assert.deepEqual(inlineOf("да, _нет_."), ["да, ", { kind: "em", parts: ["нет"] }, "."]);
});

test("texts made to take long are read all the same", () => {
  for (const one of ["_a_", "a.", "~~a~", "> ", "- ", "**a*", "`a ", "[a](", "``", "<div>", "|a", "\n", "a@", "  - x\n", "*", "#"]) {
    const text = one.repeat(Math.floor(100_000 / one.length));
    blocksOf(text);
    inlineOf(text);
  }
});

test("only addresses of the web and of mail are links", () => {
  assert.equal(target("https://a.example/b")?.host, "a.example");
  assert.equal(target("mailto:a@b.example")?.protocol, "mailto:");
  for (const href of ["javascript:alert(1)", "data:text/html,x", "/console/inbox", "vbscript:x", " java\nscript:x"])
    assert.equal(target(href), undefined);
});
