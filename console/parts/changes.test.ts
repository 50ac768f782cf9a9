import assert from "node:assert/strict";
import { test } from "node:test";

import { changes, linesOf } from "./changes";

const told = (before: string, after: string) =>
  changes([...before], [...after]).map(({ kind, lines }) => `${{ same: "=", added: "+", removed: "-" }[kind]}${lines.join("")}`);

test("what is removed stands before what is added, and what is the same is found", () => {
  assert.deepEqual(told("abcabba", "cbabac"), ["-ab", "=c", "-a", "=b", "+a", "=ba", "+c"]);
  assert.deepEqual(told("ax", "ay"), ["=a", "-x", "+y"]);
});

test("of nothing all is new, and the other way round", () => {
  assert.deepEqual(changes([], []), []);
  assert.deepEqual(told("", "ab"), ["+ab"]);
  assert.deepEqual(told("ab", ""), ["-ab"]);
  assert.deepEqual(linesOf(""), []);
});

test("both texts can be read from the changes, whichever they are", () => {
  for (let seed = 1; seed < 300; seed += 1) {
    const [before, after] = [seed * 7_919, seed * 104_729].map((each) => each.toString(3));
    const parts = changes([...before!], [...after!]);
    const of = (kind: string) => parts.filter((each) => each.kind !== kind).flatMap((each) => each.lines).join("");
    assert.deepEqual([of("added"), of("removed")], [before, after]);
  }
});

test("what is too much to compare is gone and new as a whole", () => {
  const many = (name: string) => Array.from({ length: 3_000 }, (_, number) => `${name} ${number}`);
  const parts = changes(["first", ...many("a"), "last"], ["first", ...many("b"), "last"]);
  assert.deepEqual(parts.map(({ kind, lines }) => [kind, lines.length]), [["same", 1], ["removed", 3_000], ["added", 3_000], ["same", 1]]);
});
