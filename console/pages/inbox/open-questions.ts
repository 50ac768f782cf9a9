/** Everything that waits for a person in the tenant, soonest expiry first. The menu counts it on every page. */

import { all } from "../../api/request";
import type { Intervention } from "../../api/shapes";
import { EVERY } from "../../live/how-often";
import { type Live, watch } from "../../live/watch";

let watched: Live<Intervention[]> | undefined;

/** Watched from the first time that anybody asks, as long as the page is open. */
export function openQuestions(): Live<Intervention[]> {
  watched ??= watch("questions", async () => ({
    value: (await all<Intervention>("/v1/interventions", { state: "pending", limit: 100 })).sort(bySoonest),
    again: EVERY.questions,
  }));
  return watched;
}

/** Those without a deadline come last, the oldest of them first. */
export function bySoonest(one: Intervention, other: Intervention): number {
  if (one.timeout_at !== other.timeout_at) {
    if (one.timeout_at === null) return 1;
    if (other.timeout_at === null) return -1;
    return one.timeout_at < other.timeout_at ? -1 : 1;
  }
  return one.created_at < other.created_at ? -1 : 1;
}
