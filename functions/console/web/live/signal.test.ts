import assert from "node:assert";
import { test } from "node:test";

import { options } from "preact";

import { signal } from "./signal";

/** A component that reads what `draws` reads, drawn as Preact does it. */
function shown(draws: () => unknown) {
  const steps = options as unknown as Record<string, (node: unknown) => void>;
  const component = { drawn: 0, forceUpdate: () => draw() };
  const node = { __c: component };
  function draw(): void {
    steps["__r"]!(node);
    component.drawn += 1;
    draws();
    steps["diffed"]!(node);
  }
  draw();
  return { component, remove: () => steps["unmount"]!(node) };
}

test("a component is drawn anew when a value that it reads becomes another one", () => {
  const one = signal("a");
  const { component } = shown(() => one.value);
  one.value = "a";
  assert.equal(component.drawn, 1);
  one.value = "b";
  assert.equal(component.drawn, 2);
});

test("what it read before and does not read now draws it no more", () => {
  const isLong = signal(true);
  const more = signal(1);
  const { component } = shown(() => isLong.value && more.value);
  isLong.value = false;
  more.value = 2;
  assert.equal(component.drawn, 2);
});

test("one that is gone is not drawn, and whoever reads outside of drawing is not noted", () => {
  const one = signal(1);
  const { component, remove } = shown(() => one.value);
  assert.equal(one.value, 1);
  remove();
  one.value = 2;
  assert.equal(component.drawn, 1);
});
