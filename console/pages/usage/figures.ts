/** What the charts of the usage show, made of the API's sums. */

import type { Shapes } from "../../api/shapes";
import type { Bar } from "../../parts/chart";
import { STATES } from "../../parts/session-state";

export type TenantUsage = Shapes["TenantUsage"];
export type UsageItem = Shapes["UsageItem"];
export type Work = Shapes["Work"];

export const RANGES: Record<string, { title: string; days: number }> = {
  "1d": { title: "the last 24 hours", days: 1 },
  "7d": { title: "the last 7 days", days: 7 },
  "30d": { title: "the last 30 days", days: 30 },
  "90d": { title: "the last 90 days", days: 90 },
};

const HOUR_MS = 3_600_000;

/** Every hour or day of the time, also those in which nothing was used. Other groups: as they came. */
export function slots(usage: TenantUsage): { label: string; item: UsageItem | undefined }[] {
  if (usage.by !== "day" && usage.by !== "hour") return usage.items.map((item) => ({ label: labelOf(item, usage.items), item }));
  const step = usage.by === "hour" ? HOUR_MS : 24 * HOUR_MS;
  const found = new Map(usage.items.map((item) => [Date.parse(item.key), item]));
  const made: { label: string; item: UsageItem | undefined }[] = [];
  for (let at = Date.parse(usage.from); at < Date.parse(usage.to); at += step)
    made.push({ label: moment(at, usage.by), item: found.get(at) });
  return made;
}

/** What an agent is called, with its id where another one is called the same; of all else the key. */
function labelOf({ key, agent_name: name }: UsageItem, all: readonly UsageItem[]): string {
  if (!name) return key;
  return all.filter((each) => each.agent_name === name).length > 1 ? `${name} (${key})` : name;
}

/** `2026-11-23`, or with its hour: `2026-11-23 14:00`. In UTC, in which usage is counted. */
function moment(at: number, by: "day" | "hour"): string {
  const text = new Date(at).toISOString();
  return by === "day" ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}

export function bars(usage: TenantUsage, values: (item: UsageItem) => (number | null)[], none: number): Bar[] {
  return slots(usage).map(({ label, item }) => ({
    label,
    values: item ? values(item) : new Array<number>(none).fill(0),
  }));
}

/** Mean seconds that questions which are closed were open; null: none was closed. */
export function meanWait(work: Work): number | null {
  const { resolved, expired, withdrawn, waited_seconds } = work.interventions;
  const closed = resolved + expired + withdrawn;
  return closed > 0 ? waited_seconds / closed : null;
}

/** `completed/plan_completed` in words: `Ended: plan completed`. That a run ended does not say that its goal was met. */
export function reason(name: string): string {
  const [end, why] = name.split("/");
  const said = STATES.find(([state]) => state === end)?.[1] ?? end;
  return (why ? `${said}: ${why}` : said!).replaceAll("_", " ");
}

export function short(count: number): string {
  for (const [size, name] of [
    [1e9, " G"],
    [1e6, " M"],
    [1e3, " k"],
  ] as const)
    if (count >= size) return `${(count / size).toFixed(count >= 100 * size ? 0 : 1)}${name}`;
  return String(Math.round(count));
}

export function percent(part: number, of: number): string {
  return of > 0 ? `${Math.round((100 * part) / of)} %` : "none";
}
