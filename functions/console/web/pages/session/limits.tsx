/** Raising what a session may use, having it stop after each turn, and going on from here in another one. */

import { useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import type { Session } from "../../api/shapes";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { go, to } from "../../navigation/places";
import { Dialog, Problem } from "../../parts/dialog";
import { say, sayError } from "../../parts/toasts";

interface Shown {
  session: Session;
  onClose: () => void;
  onDone: () => void;
}

type Limits = Partial<Session["limits"]>;

export async function changeLimits(session: Session, limits: Limits): Promise<void> {
  await ask("PATCH", at("/v1/sessions/{}", session.session_id), { body: limits });
}

/** Single-stepping: a person looks at the work after each turn. */
export function StepByStep({ session, onDone }: { session: Session; onDone: () => void }) {
  const isOn = session.limits.review_every === 1;
  async function turn(): Promise<void> {
    await changeLimits(session, { review_every: isOn ? 0 : 1 });
    say(isOn ? "It works on without asking." : "It asks after each turn.");
    onDone();
  }
  return (
    <button type="button" aria-pressed={isOn} onClick={() => void turn().catch(sayError)}>
      Step by step
    </button>
  );
}

export function LimitsDialog({ session, onClose, onDone }: Shown) {
  const { limits } = session;
  const [steps, setSteps] = useState(String(limits.max_steps));
  const [tokens, setTokens] = useState(String(limits.token_budget));
  const [cost, setCost] = useState(limits.cost_budget_usd === null ? "" : String(limits.cost_budget_usd));
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);

  async function save(): Promise<void> {
    const asked: Limits = {};
    if (Number(steps) !== limits.max_steps) asked.max_steps = Number(steps);
    if (Number(tokens) !== limits.token_budget) asked.token_budget = Number(tokens);
    if (cost && Number(cost) !== limits.cost_budget_usd) asked.cost_budget_usd = Number(cost);
    if (!Object.keys(asked).length) return onClose();
    setBusy(true);
    setProblem("");
    try {
      await changeLimits(session, asked);
      say("Its limits are changed.");
      onDone();
      onClose();
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(false);
    }
  }

  return (
    <Dialog title="Limits" onClose={onClose} isBusy={isBusy}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label>
          Turns
          <input type="number" min={1} max={1_000} required value={steps} onInput={(event) => setSteps(event.currentTarget.value)} />
        </label>
        <label>
          Tokens in each window
          <input type="number" min={1} required value={tokens} onInput={(event) => setTokens(event.currentTarget.value)} />
        </label>
        <label>
          Dollars for models (empty: as it is)
          <input type="number" min={0} step="any" value={cost} onInput={(event) => setCost(event.currentTarget.value)} />
        </label>
        <Problem text={problem} />
        <p class="acts">
          <button type="button" disabled={isBusy} onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Change the limits
          </button>
        </p>
      </form>
    </Dialog>
  );
}

/** `seq`: of the event at whose turn it begins; undefined: the newest turn that has ended. */
export function ForkDialog({ session, seq, onClose }: { session: Session; seq: number | undefined; onClose: () => void }) {
  const draft = useDraft(`session/${session.session_id}/fork`, "");
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);

  async function fork(): Promise<void> {
    setBusy(true);
    setProblem("");
    try {
      const body = { ...(seq !== undefined && { at: seq }), ...(draft.value.trim() && { content: draft.value.trim() }) };
      const { data } = await ask<Session>("POST", at("/v1/sessions/{}/fork", session.session_id), { body });
      draft.drop();
      say("This is the fork.");
      go(to("sessions", data.session_id));
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(false);
    }
  }

  return (
    <Dialog title="Go on in another session" onClose={onClose} isBusy={isBusy}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void fork();
        }}
      >
        <p>
          A new session begins with the conversation up to {seq === undefined ? "its newest turn" : `the turn of event ${seq}`}.
          This one stays as it is. Files are as they are now.
        </p>
        <label>
          What to say there (empty: it goes on as it was)
          <textarea value={draft.value} maxLength={10_000} onInput={(event) => draft.write(event.currentTarget.value)} />
        </label>
        <Unsent of={draft} />
        <Problem text={problem} />
        <p class="acts">
          <button type="button" disabled={isBusy} onClick={onClose}>
            Leave it
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Fork
          </button>
        </p>
      </form>
    </Dialog>
  );
}
