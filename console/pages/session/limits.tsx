/** Raising what a session may use, having it stop after each turn, and going on from here in another one. */

import { useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import type { Session } from "../../api/shapes";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { go, to } from "../../navigation/places";
import { Dialog } from "../../parts/dialog";
import { Area, Line } from "../../parts/field";
import { Form } from "../../parts/form";
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

  async function save(): Promise<void> {
    const asked: Limits = {};
    if (Number(steps) !== limits.max_steps) asked.max_steps = Number(steps);
    if (Number(tokens) !== limits.token_budget) asked.token_budget = Number(tokens);
    if (cost && Number(cost) !== limits.cost_budget_usd) asked.cost_budget_usd = Number(cost);
    if (!Object.keys(asked).length) return onClose();
    await changeLimits(session, asked);
    say("Its limits are changed.");
    onDone();
    onClose();
  }

  return (
    <Dialog title="Limits" onClose={onClose}>
      <Form act="Change the limits" onSend={save} onClose={onClose}>
        <Line label="Turns" type="number" required value={steps} write={setSteps} />
        <Line label="Tokens in each window" type="number" required value={tokens} write={setTokens} />
        <Line label="Dollars for models (empty: no change)" type="number" value={cost} write={setCost} />
      </Form>
    </Dialog>
  );
}

/** `seq`: of the event at whose turn it begins; undefined: the newest turn that has ended. */
export function ForkDialog({ session, seq, onClose }: { session: Session; seq: number | undefined; onClose: () => void }) {
  const draft = useDraft(`session/${session.session_id}/fork`, "");

  async function fork(): Promise<void> {
      const body = { ...(seq !== undefined && { at: seq }), ...(draft.value.trim() && { content: draft.value.trim() }) };
      const { data } = await ask<Session>("POST", at("/v1/sessions/{}/fork", session.session_id), { body });
      draft.drop();
      say("This is the other session.");
      go(to("sessions", data.session_id));
  }

  return (
    <Dialog title="Try again in another session" onClose={onClose}>
      <Form act="Start the other session" onSend={fork} onClose={onClose}>
        <p>
          A new session begins with the conversation up to {seq === undefined ? "its newest turn" : `the turn of event ${seq}`}.
          This session does not change. Files are as they are now.
        </p>
        <Area label="A message there (empty: it goes on without one)" value={draft.value} write={draft.write} />
        <Unsent of={draft} />
      </Form>
    </Dialog>
  );
}
