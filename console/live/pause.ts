/** How long to wait after a failure. */

import { Refused } from "../api/refused";

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

/** Milliseconds before the next attempt, after so many failures in a row. Whom a server told when, waits so long. */
export function pauseAfter(failures: number, error: unknown, random = Math.random()): number {
  if (error instanceof Refused && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1_000;
  const most = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1));
  return most / 2 + (random * most) / 2;
}
