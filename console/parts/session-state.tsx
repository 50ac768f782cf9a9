/** What a session is doing, in a word or two, with a mark that needs no colour. */

import type { Session } from "../api/shapes";
import { counted } from "./amounts";

type Tone = "" | "good" | "warn" | "bad" | "at-work";

interface Said {
  mark: string;
  text: string;
  tone: Tone;
}

type Known = Pick<Session, "state" | "state_reason" | "result">;

/** Of `completed`, which alone is no success. */
export const UNMET = "Ended without the goal";

const WAITS: Record<string, string> = {
  waiting_for_provider: "Waits for the provider",
  waiting_for_aws: "Waits for AWS",
  waiting_for_key: "Waits for a key",
  waiting_for_tokens: "Waits for tokens",
  queued: "Waits for the provider's limit",
  waiting_for_agents: "Waits for agents",
  waiting_for_callback: "Waits for an answer",
  waiting_until: "Sleeps",
};

export const STATES: readonly (readonly [Session["state"], string])[] = [
  ["planning", "Planning"],
  ["executing", "Working"],
  ["waiting_for_tool", "Uses a tool"],
  ["waiting_for_user", "Waits for a person"],
  ["completed", "Ended"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["idle", "No goal yet"],
];

/** How a state looks in which nobody works. */
const AT_REST: Partial<Record<Session["state"], [mark: string, tone: Tone]>> = {
  waiting_for_user: ["?", "warn"],
  failed: ["✘", "bad"],
  cancelled: ["–", ""],
  idle: ["○", ""],
};

export function stateInWords({ state, state_reason, result }: Known): Said {
  const waits = WAITS[state_reason ?? ""];
  if (waits) return { mark: "◷", text: waits, tone: "warn" };
  if (state === "waiting_for_user" && state_reason === "paused") return { mark: "‖", text: "Paused", tone: "warn" };
  if (state === "completed" && result?.goal_met) return { mark: "✔", text: "Goal met", tone: "good" };
  if (state === "completed") return { mark: "◐", text: UNMET, tone: "warn" };
  const [mark, tone] = AT_REST[state] ?? ["▸", "at-work"];
  return { mark, tone, text: STATES.find(([name]) => name === state)?.[1] ?? state };
}

export function SessionState({ of }: { of: Known }) {
  const { mark, text, tone } = stateInWords(of);
  return (
    <span class={`tag ${tone}`}>
      <span aria-hidden="true">{mark}</span> {text}
    </span>
  );
}

/** Whose turn was before it when it came, of its own tenant. */
export const before = (position: number): string =>
  position ? `${counted(position, "session")} of this tenant before it` : "first of this tenant";

/** A run is under way or waits: it can be cancelled. */
export function isOpen({ state }: Pick<Session, "state">): boolean {
  return state !== "completed" && state !== "failed" && state !== "cancelled" && state !== "idle";
}
