import assert from "node:assert/strict";
import { test } from "node:test";

import { type Feed, filesOf, onto, pauseAfter, waitAfter } from "./feed";

const page = (cursor: string, seqs: number[], more: object = {}) =>
  ({
    session: { state: "executing" },
    events: seqs.map((seq) => ({ seq })),
    cursor,
    has_more: false,
    poll_after_ms: 700,
    ...more,
  }) as never;
const seqs = (feed: Feed | undefined) => feed?.events.map((each) => each.seq);

test("answers that follow on each other make one list of events", () => {
  const first = onto(undefined, { page: page("1.2", [1, 2]), after: "0" });
  assert.deepEqual(seqs(onto(first, { page: page("2.3", [3]), after: "1.2" })), [1, 2, 3]);
});

test("an answer that does not follow on what is known is none of it", () => {
  const first = onto(undefined, { page: page("1.2", [1, 2]), after: "0" });
  assert.equal(onto(first, { page: page("3.4", [4]), after: "2.3" }), undefined);
  assert.equal(onto(undefined, { page: page("3.4", [4]), after: "2.3" }), undefined);
});

test("an answer from the beginning is all that is known", () => {
  const first = onto(undefined, { page: page("1.2", [1, 2]), after: "0" });
  assert.deepEqual(seqs(onto(first, { page: page("1.1", [1]), after: "0" })), [1]);
});

test("an answer is held only where nothing more is there and no model writes", () => {
  const known = (more: object) => ({ page: page("1.1", [], more), after: "0", events: [] }) as Feed;
  assert.equal(waitAfter(undefined), undefined);
  assert.equal(waitAfter(known({ has_more: true })), undefined);
  assert.equal(waitAfter(known({ partial: {} })), undefined);
  assert.equal(waitAfter(known({})), 5);
  assert.equal(waitAfter(known({ session: { state: "waiting_for_user" } })), 20);
});

test("the service says how long to wait, and a session that has ended is asked seldom", () => {
  assert.equal(pauseAfter(page("1.1", [])), 700);
  const ended = { session: { state: "completed" } };
  assert.equal(pauseAfter(page("1.1", [], ended)), 5_000);
  assert.equal(pauseAfter(page("1.1", [1], { ...ended, poll_after_ms: 0 })), 0);
});

test("what was written is what the ends of calls say, each path once", () => {
  const ended = (data: object) => ({ type: "tool.finished", data: { ok: true, ...data } });
  const asked = { type: "tool.requested", data: { name: "create_file", input: { path: "as-the-model-wanted.md" } } };
  const events = [asked, ended({ path: "b.md" }), ended({}), ended({ ok: false }), ended({ path: "a.md" }), ended({ path: "b.md" })];
  assert.deepEqual(filesOf(events as never), ["b.md", "a.md"]);
});
