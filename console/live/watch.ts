/**
 * Values that stay current: read again and again by one tab for all, with longer pauses after failures, and not at all
 * while nobody looks. What is shown is never newer than it says (`at`).
 */

import { signal, type Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { Refused } from "../api/refused";
import { nameOf } from "../sign-in/person";
import { me } from "../sign-in/tokens";
import { EVERY, pauseAfter } from "./how-often";

export interface Live<Value> {
  value: Signal<Value | undefined>;
  /** When the value was read last, in milliseconds of the epoch. */
  at: Signal<number | undefined>;
  /** Why the last attempt failed; undefined: it did not. */
  failure: Signal<Error | undefined>;
  /** Reads at once, such as after something was changed here. */
  refresh: () => void;
}

/** What was read, and the milliseconds until it is worth reading again; Infinity: never. */
export interface Read<Value> {
  value: Value;
  again: number;
}

/** Of a value that grows: tabs tell each other what came, and not the whole again. */
export interface Growing<Value> {
  /** What a reading brought, for the other tabs. */
  news: (value: Value) => unknown;
  /** `value` with the news; undefined: they do not follow on it, so it has to catch up. */
  apply: (value: Value | undefined, news: unknown) => Value | undefined;
  /** Reads what is missing without waiting for more. */
  catchUp: Load<Value>;
}

/** From tab to tab: what was read, or why it was not, that a tab needs it, or that it is to be read now. */
interface Told<Value> {
  value?: Value;
  news?: unknown;
  at?: number | undefined;
  failed?: string;
  behind?: boolean;
  wanted?: boolean;
  due?: boolean;
}

/** Milliseconds: no answer takes longer. */
const LONGEST_ANSWER = 60_000;

export type Load<Value> = (last: Value | undefined, signal: AbortSignal) => Promise<Read<Value>>;

/** An answer that does not come, as after a computer has slept, counts as none. Throws Refused. */
async function inTime<Read>(stop: AbortSignal, read: (signal: AbortSignal) => Promise<Read>): Promise<Read> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), LONGEST_ANSWER);
  try {
    return await read(AbortSignal.any([stop, late.signal]));
  } catch (error) {
    if (late.signal.aborted && !stop.aborted) throw new Refused(0, "UNREACHABLE", "The service has not answered for a minute.");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Begins to read `key`'s value, until `stop`. Tabs of one person that watch the same key share what one reads. */
export function watch<Value>(
  key: string,
  load: Load<Value>,
  growing?: Growing<Value>,
): Live<Value> & { stop: () => void } {
  const value = signal<Value | undefined>(undefined);
  const at = signal<number | undefined>(undefined);
  const failure = signal<Error | undefined>(undefined);
  const stopped = new AbortController();
  const name = `acta.live.${nameOf(me.value!)} ${key}`; // another person's tabs never hear what this one reads
  const tabs = new BroadcastChannel(name);
  let isDue = false;
  let endPause = () => {};
  let turn: AbortController | undefined;
  let isReading = false;
  let catching: AbortController | undefined;

  tabs.onmessage = ({ data }: MessageEvent<Told<Value>>) => {
    if (data.due) readNow();
    else if (data.wanted) {
      if (value.value === undefined || !turn) return;
      tabs.postMessage(growing ? { behind: true } : { value: value.value, at: at.value });
    } else if (data.failed !== undefined) {
      if (!isReading) failure.value = new Error(data.failed);
    } else if (growing) {
      if (isReading) return;
      const next = data.news === undefined ? undefined : growing.apply(value.value, data.news);
      if (next === undefined) void catchUp(growing);
      else take(next, data.at);
    } else if (data.at !== undefined && data.at > (at.value ?? 0)) {
      take(data.value as Value, data.at);
    }
  };

  function take(read: Value, when = Date.now()): void {
    value.value = read;
    at.value = when;
    failure.value = undefined;
  }

  /** For a tab that does not read itself and has missed some of what the reading tab told. */
  async function catchUp({ catchUp: next }: Growing<Value>): Promise<void> {
    if (catching || document.hidden || stopped.signal.aborted) return;
    catching = new AbortController();
    const { signal } = catching;
    try {
      let again = 0;
      while (again === 0 && !signal.aborted) {
        const read = await next(value.value, signal);
        if (signal.aborted) return;
        again = read.again;
        take(read.value);
      }
    } catch (error) {
      if (!signal.aborted) failure.value = error as Error;
    } finally {
      if (catching?.signal === signal) catching = undefined;
    }
  }

  /** Ends the pause before the next reading, if this is the tab that reads. */
  function readNow(): void {
    isDue = true;
    endPause();
  }

  async function readOn(own: AbortController): Promise<void> {
    let failures = 0;
    isReading = true;
    catching?.abort();
    catching = undefined;
    own.signal.addEventListener("abort", () => (isReading = false), { once: true });
    while (!own.signal.aborted) {
      let pause: number;
      try {
        const read = await inTime(own.signal, (signal) => load(value.value, signal));
        if (own.signal.aborted) return;
        take(read.value);
        failures = 0;
        pause = read.again;
        tabs.postMessage(growing ? { news: growing.news(read.value), at: at.value } : { value: read.value, at: at.value });
      } catch (error) {
        if (own.signal.aborted) return;
        failures += 1;
        failure.value = error as Error;
        tabs.postMessage({ failed: failure.value.message });
        pause = error instanceof Refused && !error.isPassing ? Infinity : pauseAfter(failures, error);
      }
      if (!isDue) await paused(pause, own.signal);
      isDue = false;
    }
  }

  function paused(pause: number, ended: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const timer = Number.isFinite(pause) ? setTimeout(done, pause) : undefined;
      endPause = () => {
        clearTimeout(timer);
        done();
      };
      ended.addEventListener("abort", endPause, { once: true });
    });
  }

  /** Reads while it is seen; the lock makes it one tab that does. */
  function look(): void {
    if (document.hidden || stopped.signal.aborted) {
      turn?.abort();
      turn = undefined;
    } else if (!turn) {
      // Another tab may be reading, and may have told its value before this one listened.
      tabs.postMessage({ wanted: true });
      const own = (turn = new AbortController());
      navigator.locks
        .request(name, { signal: own.signal }, () => readOn(own))
        .catch(() => undefined); // it was stopped while it waited for its turn
    }
  }

  document.addEventListener("visibilitychange", look, { signal: stopped.signal });
  addEventListener("online", readNow, { signal: stopped.signal });
  look();
  return {
    value,
    at,
    failure,
    refresh: () => {
      readNow();
      tabs.postMessage({ due: true });
    },
    stop: () => {
      stopped.abort();
      turn?.abort();
      catching?.abort();
      tabs.close();
    },
  };
}

/** Of a component: what is watched as long as it is shown. `key` names all that `load` depends on. */
export function useLive<Value>(key: string, load: Load<Value>, growing?: Growing<Value>): Live<Value> {
  const [live, setLive] = useState<{ key: string; watched: Live<Value> & { stop: () => void } }>();
  useEffect(() => {
    const watched = watch(key, load, growing);
    setLive({ key, watched });
    return watched.stop;
  }, [key]);
  return live?.key === key ? live.watched : nothingYet;
}

/** The same of a value that is read whole every `again` milliseconds. Infinity: once. */
export function useEvery<Value>(key: string, read: (signal: AbortSignal) => Promise<Value>, again = EVERY.anythingElse): Live<Value> {
  return useLive(key, async (_, signal) => ({ value: await read(signal), again }));
}

const nothingYet: Live<never> = {
  value: signal(undefined),
  at: signal(undefined),
  failure: signal(undefined),
  refresh: () => {},
};
