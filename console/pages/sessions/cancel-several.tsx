/** Cancels several sessions, after asking once, and says of each what became of it. */

import { useRef, useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import type { Session } from "../../api/shapes";
import { counted } from "../../parts/amounts";
import { Dialog } from "../../parts/dialog";
import { Text } from "../../parts/words";
import { named } from "./goal-text";

/** `done` or why not; absent: it is not tried yet. */
type Became = Record<string, string>;

const DONE = "done";

export function CancelSeveral({ sessions, onClose }: { sessions: readonly Session[]; onClose: () => void }) {
  const [became, setBecame] = useState<Became>({});
  const [isBusy, setBusy] = useState(false);
  const keys = useRef<Record<string, string>>({});
  const left = sessions.filter(({ session_id }) => became[session_id] !== DONE);
  const tried = Object.keys(became).length > 0;

  async function begin(): Promise<void> {
    setBusy(true);
    for (const { session_id } of left) {
      const key = (keys.current[session_id] ??= crypto.randomUUID());
      const outcome = await ask("POST", at("/v1/sessions/{}/cancel", session_id), { key }).then(
        () => DONE,
        (error: Error) => error.message,
      );
      setBecame((before) => ({ ...before, [session_id]: outcome }));
    }
    setBusy(false);
  }

  return (
    <Dialog title={`Cancel ${counted(sessions.length, "session")}?`} onClose={onClose} isBusy={isBusy}>
      <p>Their runs end now. Finished work is kept, and nothing more is started.</p>
      <ul class="plain outcomes" aria-live="polite">
        {sessions.map((each) => (
          <li key={each.session_id}>
            <Text>{named(each)}</Text> <Outcome of={became[each.session_id]} />
          </li>
        ))}
      </ul>
      <p class="acts">
        <button type="button" disabled={isBusy} autofocus onClick={onClose}>
          {tried ? "Close" : "Leave them"}
        </button>
        {left.length > 0 && (
          <button type="button" class="danger" disabled={isBusy} onClick={() => void begin()}>
            {isBusy ? "Wait …" : tried ? "Try again" : `Cancel ${counted(sessions.length, "session")}`}
          </button>
        )}
      </p>
    </Dialog>
  );
}

function Outcome({ of }: { of: string | undefined }) {
  if (of === undefined) return null;
  if (of === DONE) return <span class="tag good">✔ cancelled</span>;
  return <strong class="not-done">✘ not cancelled: {of}</strong>;
}
