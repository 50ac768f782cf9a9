/** Goals as lists show them, and as they are sent. */

import type { Put } from "../../api/files";
import type { Session } from "../../api/shapes";
import { beginning } from "../../parts/words";

/** The beginning of its goal, else its id. */
export function named({ goal, session_id }: Session): string {
  const line = goal.trim().split("\n", 1)[0] ?? "";
  const first = beginning(line, 160);
  return line ? first + (first === goal.trim() ? "" : " …") : `Session ${session_id}`;
}

/** With the paths of the files that were stored for it. */
export function withFiles(goal: string, stored: readonly Put[]): string {
  const paths = stored.flatMap(({ path }) => (path === undefined ? [] : [`- ${path}`]));
  return paths.length === 0 ? goal.trim() : [goal.trim(), "", "Files:", ...paths].join("\n");
}
