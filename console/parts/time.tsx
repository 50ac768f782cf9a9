/** Instants and spans, as people say them. One clock ticks for the whole page. */

import { signal } from "@preact/signals";

export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);

const UNITS: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** `5_400` seconds: `1 h 30 min`. Two units at most. */
export function span(seconds: number): string {
  let left = Math.max(0, Math.round(seconds));
  if (left === 0) return "0 s";
  const said: string[] = [];
  for (const [size, name] of UNITS) {
    const whole = Math.floor(left / size);
    left -= whole * size;
    if (whole > 0) said.push(`${whole} ${name}`);
    else if (said.length) break;
    if (said.length === 2) break;
  }
  return said.join(" ");
}

/** An instant, and how long ago it was. */
export function Ago({ at }: { at: string | number }) {
  const then = new Date(at);
  const seconds = (now.value - then.getTime()) / 1_000;
  return (
    <time dateTime={then.toISOString()} title={then.toLocaleString()}>
      {seconds < 5 ? "just now" : `${span(largest(seconds))} ago`}
    </time>
  );
}

/** How long until an instant. `soon`: seconds from which it is urgent. */
export function Until({ at, soon = 300 }: { at: string; soon?: number }) {
  const then = new Date(at);
  const seconds = (then.getTime() - now.value) / 1_000;
  return (
    <time class={seconds < soon ? "until soon" : "until"} dateTime={at} title={then.toLocaleString()}>
      {seconds <= 0 ? "any moment now" : `in ${span(seconds)}`}
    </time>
  );
}

/** Of what is long ago one unit is enough. */
function largest(seconds: number): number {
  const unit = UNITS.find(([size]) => seconds >= size)?.[0] ?? 1;
  return Math.floor(seconds / unit) * unit;
}
