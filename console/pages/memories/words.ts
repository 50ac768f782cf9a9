/** What is said of a memory. */

import type { Shapes } from "../../api/shapes";

export type Memory = Shapes["Memory"];
export type Kind = Memory["kind"];

export const KINDS: readonly Kind[] = ["fact", "preference", "lesson", "summary"];

export function byWhom({ origin, source }: Pick<Memory, "origin" | "source">): string {
  if (source.user && source.session_id) return `Noted by an agent, last changed by ${source.user}`;
  if (source.user) return `Written by ${source.user}`;
  return origin === "person" ? "Written by a person" : "Noted by an agent";
}

/** `a, b ,, a`: `a` and `b`. */
export function tagsOf(text: string): string[] {
  const tags = text.split(",").map((each) => each.trim());
  return [...new Set(tags.filter(Boolean))];
}

/** Whether two say the same. */
export function isSame(one: Memory, other: Memory): boolean {
  return one.updated_at === other.updated_at && one.text === other.text && one.kind === other.kind;
}
