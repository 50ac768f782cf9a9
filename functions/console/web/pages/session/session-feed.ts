/** A session and all that has happened in it, read on from where the last answer ended. */

import { at, get } from "../../api/request";
import { Refused } from "../../api/request";
import type { Event, Snapshot } from "../../api/shapes";
import { type Growing, type Live, type Load, useLive } from "../../live/watch";

export interface Feed {
  /** Of the newest answer. */
  page: Snapshot;
  /** The cursor that this answer was asked for with. */
  after: string;
  /** All of them so far, the oldest first. */
  events: readonly Event[];
}

interface News {
  page: Snapshot;
  after: string;
}

const BEGINNING = "0";
/** Seconds that an answer is held while nothing happens; shorter while a model may be writing. */
const WAIT = 20;
const WAIT_AT_WORK = 5;
/** Milliseconds: a session that has ended answers at once, and is asked seldom. */
const ENDED_MS = 5_000;
const AT_WORK = ["planning", "executing"];
const OVER = ["completed", "failed", "cancelled"];

export const isOver = (state: string): boolean => OVER.includes(state);

/** What was known with an answer more; undefined: the answer does not follow on it. */
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
  return isOver(page.session.state) ? Math.max(page.poll_after_ms, ENDED_MS) : page.poll_after_ms;
}

export function useFeed(id: string): Live<Feed> {
  const load = loadOf(id, true);
  const growing: Growing<Feed> = {
    news: ({ page, after }): News => ({ page, after }),
    apply: (known, news) => onto(known, news as News),
    catchUp: loadOf(id, false),
  };
  return useLive<Feed>(`session.${id}`, load, growing);
}

function loadOf(id: string, mayWait: boolean): Load<Feed> {
  return async (known, signal) => {
    const wait = mayWait ? waitAfter(known) : undefined;
    const after = known?.page.cursor ?? BEGINNING;
    const news = await inTurn(wait, (held) => read(id, after, held, signal));
    return { value: onto(known, news)!, again: pauseAfter(news.page) };
  };
}

/** The whole browser holds one answer at most; whoever finds it taken asks without. */
async function inTurn(wait: number | undefined, ask: (wait?: number) => Promise<News>): Promise<News> {
  if (wait === undefined) return ask();
  return await navigator.locks.request("acta.long-poll", { ifAvailable: true }, (lock) => ask(lock ? wait : undefined));
}

async function read(id: string, after: string, wait: number | undefined, signal: AbortSignal): Promise<News> {
  try {
    return { after, page: await get<Snapshot>(at("/v1/sessions/{}", id), { after, wait }, signal) };
  } catch (error) {
    // The log has become shorter: it was restored from a backup.
    if (error instanceof Refused && error.status === 400 && after !== BEGINNING) return read(id, BEGINNING, undefined, signal);
    throw error;
  }
}
