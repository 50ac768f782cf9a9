/**
 * Values that components are drawn anew with: what one reads while it is drawn is noted, each time. Preact's hooks go by
 * the same options of it.
 */

import { type Component, options } from "preact";

interface Drawn {
  __c?: Drawable;
}

type Drawable = Pick<Component, "forceUpdate">;

/** What Preact calls before a component is drawn, after it and what is in it was, and where it goes. */
type Steps = Partial<Record<"__r" | "diffed" | "unmount", (node: Drawn) => void>>;

let drawing: Drawable | undefined;
const reads = new WeakMap<Drawable, Set<Signal<unknown>>>();

export class Signal<Value> {
  private readonly readers = new Set<Drawable>();

  constructor(private now: Value) {}

  get value(): Value {
    if (drawing) {
      this.readers.add(drawing);
      reads.get(drawing)!.add(this as Signal<unknown>);
    }
    return this.now;
  }

  set value(next: Value) {
    if (Object.is(next, this.now)) return;
    this.now = next;
    for (const each of [...this.readers]) each.forceUpdate();
  }

  leave(reader: Drawable): void {
    this.readers.delete(reader);
  }
}

export const signal = <Value>(first: Value): Signal<Value> => new Signal(first);

function forget(reader: Drawable): void {
  for (const each of reads.get(reader) ?? []) each.leave(reader);
  reads.set(reader, new Set());
}

function before(step: keyof Steps, ours: (node: Drawn) => void): void {
  const steps = options as Steps;
  const theirs = steps[step];
  steps[step] = (node) => {
    ours(node);
    theirs?.(node);
  };
}

before("__r", ({ __c: component }) => {
  drawing = component;
  if (component) forget(component);
});
before("diffed", () => (drawing = undefined));
before("unmount", ({ __c: component }) => component && forget(component));
