/** Shapes of the API's answers, by the names that its document gives them. Made of it by `make check`. */

import type { components } from "#document";

export type Shapes = components["schemas"];
export type Session = Shapes["Session"];
export type Snapshot = Shapes["Snapshot"];
export type Event = Shapes["Event"];
export type Plan = Shapes["Plan"];
export type PlanStep = Shapes["PlanStep"];
export type Intervention = Shapes["Intervention"];
export type Me = Shapes["Me"];
export type PageSignIn = Shapes["PageSignIn"];

/** A page of a listing. `next_cursor` null: there is no more. */
export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}
