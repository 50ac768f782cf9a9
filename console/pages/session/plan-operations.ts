/** What a person changed of a plan, as the operations that the API takes. */

import type { PlanStep } from "../../api/shapes";

export type Operation =
  | { op: "add"; description: string }
  | { op: "edit"; step_number: number; description: string }
  | { op: "skip"; step_number: number }
  | { op: "reorder"; step_numbers: number[] };

/** A step as it is to be; without `number` it is new. */
export interface Draft {
  number?: number;
  description: string;
  isSkipped: boolean;
}

/** What turns the pending steps into the drafts. Steps that are added come last, in their order. */
export function operations(pending: readonly PlanStep[], drafts: readonly Draft[]): Operation[] {
  const done: Operation[] = [];
  for (const step of pending) {
    const draft = drafts.find((each) => each.number === step.step_number);
    if (!draft || draft.isSkipped) done.push({ op: "skip", step_number: step.step_number });
    else if (draft.description.trim() !== step.description)
      done.push({ op: "edit", step_number: step.step_number, description: draft.description.trim() });
  }
  const kept = drafts.filter((each) => each.number !== undefined && !each.isSkipped).map((each) => each.number!);
  const before = pending.map((each) => each.step_number).filter((each) => kept.includes(each));
  if (kept.some((each, index) => each !== before[index])) done.push({ op: "reorder", step_numbers: kept });
  for (const { number, description, isSkipped } of drafts)
    if (number === undefined && !isSkipped && description.trim()) done.push({ op: "add", description: description.trim() });
  return done;
}
