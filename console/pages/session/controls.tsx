/** What a person can do with a session: say something, pause, resume, cancel, delete, and go step by step. */

import { useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import type { Session } from "../../api/shapes";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { go, to } from "../../navigation/places";
import { Confirm } from "../../parts/dialog";
import { Area } from "../../parts/field";
import { isOpen } from "../../parts/session-state";
import { say, sayError } from "../../parts/toasts";
import { ForkDialog, LimitsDialog, StepByStep } from "./limits";
import { waitsForAnswer } from "./why";

interface Shown {
  session: Session;
  onDone: () => void;
}

/** `seq`: of the event that was chosen in the trace, from whose turn a fork begins. */
export function Controls({ session, onDone, seq }: Shown & { seq: number | undefined }) {
  const [asked, setAsked] = useState<"cancel" | "delete" | "limits" | "fork">();
  const id = session.session_id;
  const open = isOpen(session);
  const isPaused = session.state_reason === "paused";

  async function act(what: string, done: string): Promise<void> {
    await ask("POST", at(`/v1/sessions/{}/${what}`, id), { body: {} });
    say(done);
    onDone();
  }
  const begin = (what: string, done: string) => () => void act(what, done).catch(sayError);

  return (
    <>
      <div class="acts controls" role="group" aria-label="What to do with the session">
        {open && !isPaused && session.state !== "waiting_for_user" && (
          <button type="button" onClick={begin("pause", "It pauses after the present turn.")}>
            Pause
          </button>
        )}
        {(isPaused || (open && session.retry_at && !session.queue && !waitsForAnswer(session))) && (
          <button type="button" class="primary" onClick={begin("resume", "It goes on.")}>
            {isPaused ? "Resume" : "Try now"}
          </button>
        )}
        {open && <StepByStep session={session} onDone={onDone} />}
        <button type="button" onClick={() => setAsked("limits")}>
          Limits …
        </button>
        {session.run && (
          <button type="button" onClick={() => setAsked("fork")}>
            {seq === undefined ? "Try again …" : "Try again from the chosen row …"}
          </button>
        )}
        {open && (
          <button type="button" class="danger" onClick={() => setAsked("cancel")}>
            Cancel
          </button>
        )}
        <button type="button" class="danger" onClick={() => setAsked("delete")}>
          Delete
        </button>
      </div>
      {asked === "limits" && <LimitsDialog session={session} onClose={() => setAsked(undefined)} onDone={onDone} />}
      {asked === "fork" && <ForkDialog session={session} seq={seq} onClose={() => setAsked(undefined)} />}
      {asked === "cancel" && (
        <Confirm
          title="Cancel this run?"
          act="Cancel the run"
          isDangerous
          onClose={() => setAsked(undefined)}
          onAct={() => act("cancel", "It is cancelled.")}
        >
          <p>Nothing more is started. A call that has already started may still have its effect.</p>
        </Confirm>
      )}
      {asked === "delete" && (
        <Confirm
          title="Delete this session?"
          act="Delete for good"
          isDangerous
          onClose={() => setAsked(undefined)}
          onAct={async () => {
            await ask("DELETE", at("/v1/sessions/{}", id));
            say("The session is deleted.");
            go(to("sessions"));
          }}
        >
          <p>Its conversation, plan and trace are erased. Files that it wrote stay. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

export function SaySomething({ session, onDone }: Shown) {
  const draft = useDraft(`session/${session.session_id}/message`, "");
  const [isBusy, setBusy] = useState(false);
  const over = !isOpen(session);

  async function send(): Promise<void> {
    setBusy(true);
    try {
      await ask("POST", at("/v1/sessions/{}/messages", session.session_id), { body: { content: draft.value } });
      draft.drop();
      say(over ? "Its next run begins." : "The agent reads it in its next turn.");
      onDone();
    } catch (error) {
      sayError(error);
    }
    setBusy(false);
  }

  return (
    <form
      class="say"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Area label={over ? "Say something to begin its next run" : "Say something to the agent"} value={draft.value} write={draft.write} />
      <Unsent of={draft} />
      <button type="submit" class="primary" disabled={isBusy || !draft.value.trim()}>
        Send
      </button>
    </form>
  );
}
