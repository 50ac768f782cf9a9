import assert from "node:assert/strict";
import { test } from "node:test";

import { beginning, visible } from "./words";

test("characters that hide or reorder text are shown by their number", () => {
  assert.equal(visible("pay \u202eevil\u202c"), "pay ⟨U+202E⟩evil⟨U+202C⟩");
  assert.equal(visible("a\u200bb"), "a⟨U+200B⟩b");
  assert.equal(visible("\u{e0041}"), "⟨U+E0041⟩");
  assert.equal(visible("a\u0000b"), "a⟨U+0000⟩b");
});

test("what a language or an emoji needs stays, in a sentence and in data", () => {
  for (const text of ["⚠\ufe0f می\u200cخواهم 👩\u200d👩\u200d👧", "1\ufe0f\u20e3", "क्\u200dष"]) {
    assert.equal(visible(text), text);
    assert.equal(visible(text, true), text);
  }
  assert.equal(visible("Voilà\u202f!"), "Voilà\u202f!");
  assert.equal(visible("Voilà\u202f!", true), "Voilà⟨U+202F⟩!");
});

test("lines, tabs and what other languages are written with stay", () => {
  assert.equal(visible("one\r\ntwo\tthree"), "one\ntwo\tthree");
  assert.equal(visible("עברית 日本語 é"), "עברית 日本語 é");
});

test("the beginning of a text has no half of a character", () => {
  assert.equal(beginning("ab😀c", 3), "ab");
  assert.equal(beginning("ab😀c", 4), "ab😀");
  assert.equal(beginning("ab", 3), "ab");
  assert.equal(beginning("ab\ud83d", 3), "ab\ud83d");
});
