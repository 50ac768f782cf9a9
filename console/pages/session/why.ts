/** Why a session stands where it stands, and why it ended, in words. */

import type { Session } from "../../api/shapes";
import { UNMET, stateInWords } from "../../parts/session-state";

const WAITS: Record<string, string> = {
  waiting_for_provider: "It waits for the model's provider, and goes on by itself.",
  waiting_for_aws: "It waits for AWS, and goes on by itself.",
  waiting_for_key: "It waits for a working key of the model's provider. An operator has to store one.",
  waiting_for_tokens: "Too few tokens are left for its next turn. It goes on with the next window, or now if its limit is raised.",
  queued: "The limit of the model's provider is reached. The session waits in line and goes on by itself.",
  waiting_for_agents: "It waits for the agents that it has called, and goes on by itself.",
  waiting_for_callback: "It waits for the answer to a tool call, and goes on by itself when the answer comes or its time is over.",
  waiting_until: "It sleeps until a time that it has named.",
  repaired: "An operator repaired it after a failure.",
  paused: "Somebody paused it. It goes on when somebody resumes it.",
  approval_required: "A call needs an approval.",
  clarification_needed: "The agent asks something.",
  error_recovery: "Something went wrong, and a person has to say how to go on.",
  checkpoint_review: "The work so far waits for a review.",
  budget_exceeded: "Its budget is used up.",
};
const ENDS: Record<string, string> = {
  goal_complete: "The agent gave its final answer.",
  answered: "The agent answered. No plan was needed.",
  answered_without_plan: "The agent answered without making a plan.",
  plan_completed: "Its plan is finished.",
  final_model_failed: "The answer is the agent's own, because its model for final answers failed.",
  judged_not_met: "The agent's judge says that the goal is not met.",
  steps_left_open: "The agent answered again and again while steps of its plan were open.",
  max_steps: "It had no turns left.",
  budget_exceeded: "It had no budget left.",
  restored: "It was restored from a backup and does not go on by itself.",
};

/** Whether it waits for something that no try brings sooner: an answer, other agents, a time. */
export function waitsForAnswer({ state_reason }: Session): boolean {
  return ["waiting_for_agents", "waiting_for_callback", "waiting_until"].includes(state_reason ?? "");
}

/** Why it stands where it stands; empty: there is nothing to say. */
export function why(session: Session): string {
  const reason = session.state_reason ?? "";
  if (stateInWords(session).text === UNMET && /_comple/.test(session.result?.reason ?? "")) return "A step of its plan failed.";
  if (session.state === "completed") return ENDS[session.result?.reason ?? reason] ?? "";
  if (session.state === "cancelled") return ENDS[reason] ?? "";
  return WAITS[reason] ?? "";
}
