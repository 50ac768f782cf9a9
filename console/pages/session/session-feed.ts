/** A session and all that has happened in it, read on from where the last answer ended. */

import { Refused } from "../../api/refused";
import { at, get } from "../../api/request";
import type { Snapshot } from "../../api/shapes";
import { type Growing, type Live, type Load, useLive } from "../../live/watch";
import { BEGINNING, type Feed, type News, onto, pauseAfter, waitAfter } from "./feed";

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
