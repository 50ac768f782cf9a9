import assert from "node:assert";
import { test } from "node:test";

import { Drafts } from "./drafts";

const ANN = { tenant: "t", user: "ann" };
const BOB = { tenant: "t", user: "bob" };

/** As the browser's, with room for so many characters. */
class Shelf {
  readonly found = new Map<string, string>([["acta.tokens", "of the sign-in"]]);
  constructor(private readonly room = Infinity) {}
  get length() {
    return this.found.size;
  }
  key(at: number) {
    return [...this.found.keys()][at] ?? null;
  }
  getItem(name: string) {
    return this.found.get(name) ?? null;
  }
  setItem(name: string, text: string) {
    if (text.length > this.room) throw new DOMException("full", "QuotaExceededError");
    this.found.set(name, text);
  }
  removeItem(name: string) {
    this.found.delete(name);
  }
}

const on = (shelf: Shelf) => new Drafts(() => shelf as unknown as Storage);

test("what was written is there after a reload", () => {
  const shelf = new Shelf();
  assert.equal(on(shelf).write(ANN, "session/1", "half a sen"), true);
  assert.equal(on(shelf).read(ANN, "session/1"), "half a sen");
});

test("nobody else reads it, and it goes where somebody else signs in", () => {
  const shelf = new Shelf();
  on(shelf).write(ANN, "start", "secret");
  assert.equal(on(shelf).read(BOB, "start"), undefined);
  assert.equal(on(shelf).read({ tenant: "t/ann", user: "" }, "start"), undefined);
  on(shelf).keepOnly(BOB);
  assert.equal(on(shelf).read(ANN, "start"), undefined);
});

test("signing out leaves nothing of anybody and no draft in memory", () => {
  const shelf = new Shelf();
  const drafts = on(shelf);
  drafts.write(ANN, "start", "a");
  drafts.keepOnly();
  assert.equal(drafts.read(ANN, "start"), undefined);
  assert.deepEqual([...shelf.found.keys()], ["acta.tokens"]);
});

test("what is dropped takes along what is below it, and nothing beside it", () => {
  const drafts = on(new Shelf());
  for (const place of ["question/1", "question/1/comment", "question/12/comment"]) drafts.write(ANN, place, place);
  drafts.drop(ANN, "question/1");
  assert.equal(drafts.read(ANN, "question/1/comment"), undefined);
  assert.equal(drafts.read(ANN, "question/12/comment"), "question/12/comment");
});

test("what the browser does not take is kept as long as the page is there, and no older text in its place", () => {
  const shelf = new Shelf(10);
  const drafts = on(shelf);
  drafts.write(ANN, "start", "short");
  assert.equal(drafts.write(ANN, "start", "x".repeat(20)), false);
  assert.equal(drafts.isAnyUnkept, true);
  assert.equal(drafts.read(ANN, "start"), "x".repeat(20));
  assert.equal(on(shelf).read(ANN, "start"), undefined);
  drafts.write(ANN, "start", "short");
  assert.equal(drafts.isAnyUnkept, false);
});
