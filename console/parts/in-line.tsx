/** The place of a session in the line of its provider. */

import type { Session } from "../api/shapes";
import { before } from "./session-state";
import { Ago } from "./time";

/** Since when it is in its provider's line, and its place there; nothing where it is in none. */
export function InLine({ of: { queue } }: { of: Pick<Session, "queue"> }) {
  return queue ? (
    <>
      Joined the line <Ago at={queue.since} />; {before(queue.position)}.
    </>
  ) : null;
}
