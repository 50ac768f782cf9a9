/** What a session is doing, in words: of an end the same ones as in the list. */

import type { Session } from "../../api/shapes";
import { stateInWords } from "../../parts/session-state";

/** Of `completed`, which alone is no success. */
export const UNMET = "Ended without the goal";

const WAITS: Record<string, string> = {
  waiting_for_provider: "It waits for the model's provider, and goes on by itself.",
  waiting_for_aws: "It waits for AWS, and goes on by itself.",
  waiting_for_key: "It waits for a key of the model's provider that works. An operator has to see to it.",
  waiting_for_tokens: "It has used its tokens, and goes on with the next window. Raising its limits lets it go on now.",
  queued: "The model's provider takes no more calls now. It is in a line, and goes on by itself in its turn.",
  repaired: "An operator had it go on after a failure.",
  paused: "Somebody paused it. It goes on when somebody resumes it.",
  approval_required: "A call needs an approval.",
  clarification_needed: "The agent asks something.",
  error_recovery: "Something went wrong, and a person says how to go on.",
  checkpoint_review: "The work so far is to be looked at.",
  budget_exceeded: "Its budget is used up.",
};
const ENDS: Record<string, string> = {
  goal_complete: "The agent gave its final answer.",
  plan_completed: "All of its plan is done.",
  max_steps: "It had no turns left.",
  budget_exceeded: "It had no budget left.",
  restored: "It was restored from a backup, and does not go on by itself.",
};

export function doing(session: Session): string {
  if (isUnmet(session)) return UNMET;
  return session.state === "idle" ? "Idle" : stateInWords(session).text;
}

export function isUnmet({ state, result }: Session): boolean {
  return state === "completed" && !result?.goal_met;
}

/** Why it stands where it stands; empty: there is nothing to say. */
export function why(session: Session): string {
  const reason = session.state_reason ?? "";
  if (isUnmet(session) && /_comple/.test(session.result?.reason ?? "")) return "A step of its plan failed.";
  if (session.state === "completed") return ENDS[session.result?.reason ?? reason] ?? "";
  if (session.state === "cancelled") return ENDS[reason] ?? "";
  return WAITS[reason] ?? "";
}

/** `good`, `bad`, `warn` or `""`: how it is coloured, beside the words. */
export function tone(session: Session): string {
  if (session.state === "completed") return session.result?.goal_met ? "good" : "warn";
  if (session.state === "failed") return "bad";
  if (session.state === "waiting_for_user" || session.state_reason?.startsWith("waiting_for_")) return "warn";
  return "";
}
