/** The step log as spans on a line of time from which idle time is folded away. */

import type { Shapes } from "../../api/shapes";

export type Step = Shapes["Step"];

export interface Span {
  step: Step;
  /** Of the whole width, 0 to 1. */
  start: number;
  width: number;
}

export interface Fold {
  /** Of the whole width, where the line is folded. */
  at: number;
  /** Seconds that nothing ran there. */
  seconds: number;
}

export interface Line {
  spans: Span[];
  folds: Fold[];
  /** Seconds in which something ran. */
  busy: number;
  /** Seconds in which nothing did. */
  idle: number;
}

/** Milliseconds of idle time that are shown as they are; longer ones are folded to this. */
const SHOWN_IDLE = 1_000;

/** `steps` in the order of their numbers. */
export function lineOf(steps: readonly Step[]): Line {
  const times = steps.map((step) => [Date.parse(step.started_at), Date.parse(step.completed_at)] as const);
  const order = steps.map((_, index) => index).sort((one, other) => times[one]![0] - times[other]![0]);
  const places = new Map<number, [number, number]>();
  const cuts: [number, number][] = [];
  let folded = 0;
  let busy = 0;
  let idle = 0;
  let end = times[order[0] ?? 0]?.[0] ?? 0;
  const first = end;
  for (const index of order) {
    const [from, to] = times[index]!;
    const gap = from - end;
    if (gap > 0) idle += gap;
    if (gap > SHOWN_IDLE) {
      folded += gap - SHOWN_IDLE;
      cuts.push([from - first - folded - SHOWN_IDLE / 2, gap]);
    }
    busy += Math.max(0, to - Math.max(from, end));
    places.set(index, [from - first - folded, Math.max(0, to - from)]);
    end = Math.max(end, to);
  }
  const whole = Math.max(1, end - first - folded);
  return {
    spans: steps.map((step, index) => {
      const [start, width] = places.get(index)!;
      return { step, start: start / whole, width: width / whole };
    }),
    folds: cuts.map(([at, gap]) => ({ at: at / whole, seconds: gap / 1_000 })),
    busy: busy / 1_000,
    idle: idle / 1_000,
  };
}
