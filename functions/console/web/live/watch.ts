/**
 * Values that stay current: read again and again by one tab for all, with longer pauses after failures, and not at all
 * while nobody looks. What is shown is never newer than it says (`at`).
 */

import { signal, type Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { Refused } from "../api/refused";
import { pauseAfter } from "./pause";

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

/** From tab to tab: what was read, that a tab needs it, or that it is to be read now. */
interface Told<Value> {
  value?: Value;
  at?: number | undefined;
  wanted?: boolean;
  due?: boolean;
}

export type Load<Value> = (last: Value | undefined, signal: AbortSignal) => Promise<Read<Value>>;

/** Begins to read `key`'s value, until `stop`. Tabs of this browser that watch the same key share what one reads. */
export function watch<Value>(key: string, load: Load<Value>): Live<Value> & { stop: () => void } {
  const value = signal<Value | undefined>(undefined);
  const at = signal<number | undefined>(undefined);
  const failure = signal<Error | undefined>(undefined);
  const stopped = new AbortController();
  const tabs = new BroadcastChannel(`acta.live.${key}`);
  let isDue = false;
  let endPause = () => {};
  let turn: AbortController | undefined;

  tabs.onmessage = ({ data }: MessageEvent<Told<Value>>) => {
    if (data.due) readNow();
    else if (data.wanted) {
      if (value.value !== undefined && turn) tabs.postMessage({ value: value.value, at: at.value });
    } else if (data.at !== undefined && data.at > (at.value ?? 0)) {
      value.value = data.value;
      at.value = data.at;
      failure.value = undefined;
    }
  };
  tabs.postMessage({ wanted: true });

  /** By the tab that reads, which may be another one. */
  function readNow(): void {
    isDue = true;
    endPause();
  }

  async function readOn(own: AbortController): Promise<void> {
    let failures = 0;
    while (!own.signal.aborted) {
      let pause: number;
      try {
        const read = await load(value.value, own.signal);
        if (own.signal.aborted) return;
        value.value = read.value;
        at.value = Date.now();
        failure.value = undefined;
        failures = 0;
        pause = read.again;
        tabs.postMessage({ value: read.value, at: at.value });
      } catch (error) {
        if (own.signal.aborted) return;
        failures += 1;
        failure.value = error as Error;
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
      const own = (turn = new AbortController());
      navigator.locks
        .request(`acta.live.${key}`, { signal: own.signal }, () => readOn(own))
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
      tabs.close();
    },
  };
}

/** Of a component: what is watched as long as it is shown. `key` names all that `load` depends on. */
export function useLive<Value>(key: string, load: Load<Value>): Live<Value> {
  const [live, setLive] = useState<{ key: string; watched: Live<Value> & { stop: () => void } }>();
  useEffect(() => {
    const watched = watch(key, load);
    setLive({ key, watched });
    return watched.stop;
  }, [key]);
  return live?.key === key ? live.watched : nothingYet;
}

const nothingYet: Live<never> = {
  value: signal(undefined),
  at: signal(undefined),
  failure: signal(undefined),
  refresh: () => {},
};
