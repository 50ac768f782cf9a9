/** Sends a decision. The first one counts; whoever decides later is shown that one. */

import { ask, at, get, Refused } from "../../api/request";
import type { Intervention } from "../../api/shapes";
import { openQuestions } from "./open-questions";

export interface Chosen {
  option: string;
  input?: Record<string, unknown>;
  comment?: string;
  /** The same for each time that one decision is sent, so that it counts once. */
  key?: string;
}

/** `isOurs` false: somebody or the clock was faster, and `decided` says what holds. */
export interface Outcome {
  decided: Intervention;
  isOurs: boolean;
}

/** Throws Refused where nothing is decided by it. */
export async function decide(one: Intervention, chosen: Chosen): Promise<Outcome> {
  const path = at("/v1/sessions/{}/interventions/{}", one.session_id, one.intervention_id);
  const body: Record<string, unknown> = { option: chosen.option };
  if (chosen.input) body["input"] = chosen.input;
  if (chosen.comment?.trim()) body["comment"] = chosen.comment.trim();
  try {
    const decided = (await ask<Intervention>("POST", `${path}/resolve`, { body, key: chosen.key })).data;
    return { decided: decided.state ? decided : { ...one, ...done(chosen) }, isOurs: true };
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 409) throw error;
    const decided = await get<Intervention>(path);
    if (decided.state === "pending") throw error; // it is refused for another reason
    return { decided, isOurs: false };
  } finally {
    openQuestions().refresh();
  }
}

/** Of a session that was deleted meanwhile nothing but this is known. */
function done(chosen: Chosen): Partial<Intervention> {
  return { state: "resolved", resolution: chosen.option, comment: chosen.comment ?? null };
}
