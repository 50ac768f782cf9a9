import assert from "node:assert/strict";
import { test } from "node:test";

import { lineOf } from "./spans";

const at = (second: number) => new Date(second * 1_000).toISOString();
const step = (from: number, to: number) => ({ started_at: at(from), completed_at: at(to) }) as never;

test("spans stand where their time is", () => {
  const { spans, folds, busy, idle } = lineOf([step(0, 1), step(1, 4)]);
  assert.deepEqual(spans.map(({ start, width }) => [start, width]), [[0, 0.25], [0.25, 0.75]]);
  assert.deepEqual([folds.length, busy, idle], [0, 4, 0]);
});

test("an hour in which nothing runs takes the room of a second, and is told", () => {
  const { spans, folds, busy, idle } = lineOf([step(0, 2), step(3_602, 3_603)]);
  assert.deepEqual(spans.map(({ start, width }) => [start, width]), [[0, 0.5], [0.75, 0.25]]);
  assert.deepEqual(folds, [{ at: 0.625, seconds: 3_600 }]);
  assert.deepEqual([busy, idle], [3, 3_600]);
});

test("calls that run at once are counted once", () => {
  const { spans, busy } = lineOf([step(0, 4), step(1, 3)]);
  assert.deepEqual(spans.map(({ start, width }) => [start, width]), [[0, 1], [0.25, 0.5]]);
  assert.equal(busy, 4);
});

test("no steps are no time", () => {
  assert.deepEqual(lineOf([]), { spans: [], folds: [], busy: 0, idle: 0 });
});
