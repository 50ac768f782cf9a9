import assert from "node:assert/strict";
import { test } from "node:test";

import { bars, meanWait, percent, reason, short } from "./figures";
import type { TenantUsage, UsageItem, Work } from "./figures";

function usage(by: TenantUsage["by"], keys: string[]): TenantUsage {
  const items = keys.map((key) => ({ key, tokens: { total: 5 } }) as UsageItem);
  return { by, from: "2026-11-20T00:00:00.000Z", to: "2026-11-23T00:00:00.000Z", items } as TenantUsage;
}

test("a day without use has a bar without height", () => {
  const made = bars(usage("day", ["2026-11-21T00:00:00.000Z"]), (item) => [item.tokens.total], 1);
  assert.deepEqual(made.map((bar) => [bar.label, bar.values[0]]), [
    ["2026-11-20", 0],
    ["2026-11-21", 5],
    ["2026-11-22", 0],
  ]);
});

test("names are shown as they came", () => {
  const made = bars(usage("agent", ["desk", "default"]), (item) => [item.tokens.total], 1);
  assert.deepEqual(made.map((bar) => bar.label), ["desk", "default"]);
});

test("agents have their names, and their ids where that is not enough", () => {
  const named = usage("agent", ["a", "b", "c", "d"]);
  named.items.forEach((item, at) => (item.agent_name = ["Desk", "Clerk", "Desk", null][at]!));
  assert.deepEqual(bars(named, (item) => [item.tokens.total], 1).map((bar) => bar.label), ["Desk (a)", "Clerk", "Desk (c)", "d"]);
});

test("where nothing was closed there is no mean", () => {
  const work = (closed: number) => ({ interventions: { resolved: closed, expired: 0, withdrawn: 0, waited_seconds: 90 } }) as Work;
  assert.equal(meanWait(work(0)), null);
  assert.equal(meanWait(work(3)), 30);
});

test("figures are short", () => {
  assert.deepEqual([999, 1_500, 2_340_000].map(short), ["999", "1.5 k", "2.3 M"]);
  assert.deepEqual([percent(1, 3), percent(0, 0)], ["33 %", "none"]);
  assert.equal(reason("failed/model_refused"), "Failed: model refused");
});
