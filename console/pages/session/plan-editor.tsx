/** Correcting the plan while the agent works on it: only steps that nobody has begun can be changed. */

import { ask, at } from "../../api/request";
import type { Plan } from "../../api/shapes";
import { Unsent, useDraft, written } from "../../drafts/use-draft";
import { Dialog } from "../../parts/dialog";
import { Line } from "../../parts/field";
import { Form } from "../../parts/form";
import { say } from "../../parts/toasts";
import { Text } from "../../parts/words";
import { type Draft, operations } from "./plan-operations";

/** What the correction began with, which the plan may have left meanwhile. */
interface Correction {
  version: number;
  pending: Plan["steps"];
  drafts: Draft[];
  comment: string;
}

function begunWith(plan: Plan): Correction {
  const pending = plan.steps.filter((each) => each.status === "pending");
  const drafts = pending.map((each) => ({ number: each.step_number, description: each.description, isSkipped: false }));
  return { version: plan.version, pending, drafts, comment: "" };
}

const placeOf = (sessionId: string): string => `session/${sessionId}/plan`;

/** Somebody has begun to correct it in this tab, and has not sent it. */
export const isBegun = (sessionId: string): boolean => written(placeOf(sessionId)) !== undefined;

interface Shown {
  sessionId: string;
  plan: Plan;
  onClose: () => void;
  onDone: () => void;
}

export function PlanEditor({ sessionId, plan, onClose, onDone }: Shown) {
  const corrected = useDraft(placeOf(sessionId), begunWith(plan), (one) => !one.comment && !operations(one.pending, one.drafts).length);
  const { pending, version, drafts, comment } = corrected.value;
  const setDrafts = (next: Draft[]) => corrected.write({ ...corrected.value, drafts: next });
  const changes = operations(pending, drafts);

  const change = (place: number, to: Partial<Draft>) =>
    setDrafts(drafts.map((each, index) => (index === place ? { ...each, ...to } : each)));
  const move = (place: number, by: number) => {
    const next = [...drafts];
    next.splice(place + by, 0, ...next.splice(place, 1));
    setDrafts(next);
  };

  async function save(): Promise<void> {
      const body = { operations: changes, ...(comment.trim() && { comment: comment.trim() }) };
      await ask("PATCH", at("/v1/sessions/{}/plan", sessionId), { body, headers: { "if-match": `"${version}"` } });
      corrected.drop();
      say("The agent follows this plan from its next turn on.");
      onDone();
      onClose();
  }

  return (
    <Dialog title="Correct the plan" onClose={onClose}>
      <Form act="Save the plan" onSend={save} onClose={onClose} isReady={changes.length > 0}>
        <p class="hint">
          {pending.length
            ? "Steps that have begun do not change."
            : "All steps have begun, so none can be corrected. You can add one."}{" "}
          The agent is told what you changed.
        </p>
        {plan.version !== version && (
          <p class="notice warning" role="status">
            The plan has changed meanwhile. Discard this and begin again.
          </p>
        )}
        <ol class="drafts">
          {drafts.map((draft, place) => (
            <li key={draft.number ?? `new ${place}`}>
              {draft.isSkipped ? (
                <s>
                  <Text>{draft.description || "a new step"}</Text>
                </s>
              ) : (
                <input
                  aria-label={draft.number === undefined ? "New step" : `Step ${draft.number}`}
                  value={draft.description}
                  required
                  maxLength={1_000}
                  onInput={(event) => change(place, { description: event.currentTarget.value })}
                />
              )}
              <span class="acts">
                <button type="button" disabled={!place} aria-label={`Move up ${place + 1}`} onClick={() => move(place, -1)}>
                  ↑
                </button>
                <button
                  type="button"
                  disabled={place === drafts.length - 1}
                  aria-label={`Move down ${place + 1}`}
                  onClick={() => move(place, 1)}
                >
                  ↓
                </button>
                <button type="button" onClick={() => change(place, { isSkipped: !draft.isSkipped })}>
                  {draft.isSkipped ? "Keep" : "Skip"}
                </button>
              </span>
            </li>
          ))}
        </ol>
        <p>
          <button type="button" onClick={() => setDrafts([...drafts, { description: "", isSkipped: false }])}>
            Add a step
          </button>
        </p>
        <Line label="Why (the agent reads it)" value={comment} write={(next) => corrected.write({ ...corrected.value, comment: next })} />
        <Unsent of={corrected} />
      </Form>
    </Dialog>
  );
}
