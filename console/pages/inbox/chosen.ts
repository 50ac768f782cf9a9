/** The questions that are ticked, to be decided together; by their ids. */

import { signal } from "@preact/signals";

import type { Intervention } from "../../api/shapes";

export const chosen = signal<ReadonlyMap<string, Intervention>>(new Map());

/** What is said about all of them, until they are decided or not chosen any more. */
export const comment = signal("");

export type Result = { decided: Intervention; isOurs: boolean } | { failure: Error };

/** What became of those that were decided together last. */
export const results = signal<ReadonlyMap<string, [Intervention, Result]>>(new Map());

export function choose(one: Intervention, isChosen: boolean): void {
  if (isChosen && chosen.value.size === 0) results.value = new Map();
  const next = new Map(chosen.value);
  if (isChosen) next.set(one.intervention_id, one);
  else next.delete(one.intervention_id);
  chosen.value = next;
}

export function chooseNone(): void {
  chosen.value = new Map();
  results.value = new Map();
  comment.value = "";
}
