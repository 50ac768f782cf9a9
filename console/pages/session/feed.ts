/** What is known of a session, answer by answer. */

import type { Event, Snapshot } from "../../api/shapes";
import { EVERY } from "../../live/how-often";

export interface Feed {
  /** Of the newest answer. */
  page: Snapshot;
  /** The cursor that this answer was asked for with. */
  after: string;
  /** All of them so far, the oldest first. */
  events: readonly Event[];
}

export interface News {
  page: Snapshot;
  after: string;
}

export const BEGINNING = "0";
/** Seconds that an answer is held while nothing happens; shorter while a model may be writing. */
const WAIT = 20;
const WAIT_AT_WORK = 5;
const AT_WORK = ["planning", "executing"];
const OVER = ["completed", "failed", "cancelled"];

export const isOver = (state: string): boolean => OVER.includes(state);

/** Adds an answer to what is known. Undefined: the answer does not begin where what is known ends. */
export function onto(known: Feed | undefined, { page, after }: News): Feed | undefined {
  if (after === BEGINNING) return { page, after, events: page.events };
  if (known?.page.cursor !== after) return undefined;
  const events = page.events.length ? [...known.events, ...page.events] : known.events;
  return { page, after, events };
}

/** Seconds that the next answer may be held; undefined: not at all. */
export function waitAfter(known: Feed | undefined): number | undefined {
  if (!known || known.page.has_more || known.page.partial) return undefined;
  return AT_WORK.includes(known.page.session.state) ? WAIT_AT_WORK : WAIT;
}

/** Milliseconds before it is worth asking again. */
export function pauseAfter(page: Snapshot): number {
  if (page.has_more || page.events.length) return page.poll_after_ms;
  return isOver(page.session.state) ? Math.max(page.poll_after_ms, EVERY.endedSession) : page.poll_after_ms;
}

/** Paths of the files that its calls have written, each once: as they ran, also with an input that a person gave. */
export function filesOf(events: readonly Event[]): string[] {
  const written = events.filter(({ type }) => type === "tool.finished").map(({ data }) => data["path"]);
  return [...new Set(written.filter((path) => typeof path === "string"))];
}
