/** How often the page asks: while all is well, and after a failure. */

import { Refused } from "../api/refused";

/** Milliseconds between two readings of what is on the screen. A session that runs says itself when to come again. */
export const EVERY = {
  anythingElse: 15_000,
  questions: 5_000,
  oneQuestion: 2_000,
  sessions: 5_000,
  /** A session that has ended answers at once, and is asked seldom. */
  endedSession: 5_000,
  oneAgent: 10_000,
  onePrompt: 10_000,
  deletedFiles: 30_000,
  deployment: 30_000,
  models: 60_000,
  usage: 60_000,
};

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

/** Milliseconds before the next attempt, after so many failures in a row. If the server said how long to wait, it is that long. */
export function pauseAfter(failures: number, error: unknown, random = Math.random()): number {
  if (error instanceof Refused && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1_000;
  const most = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1));
  return most / 2 + (random * most) / 2;
}
