/** What sessions are looked for by. It stands in the address, so it can be sent to somebody. */

import { useEffect, useState } from "preact/hooks";

import type { Asked } from "../../api/request";
import { go, narrow, query } from "../../navigation/places";
import { Choice, Tick } from "../../parts/field";
import { STATES, UNMET } from "../../parts/session-state";
import { me } from "../../sign-in/tokens";
import { namesOf, useAgents } from "./agents";

const NAMES = ["state", "agent", "mine", "metadata", "goal"] as const;

/** What `completed` is told apart by, with its `goal_met`. */
const ENDS = { met: "true", unmet: "false" } as const;

const CHOICES = STATES.flatMap(([name, text]): (readonly [string, string])[] =>
  name === "completed" ? [["met", "Goal met"], ["unmet", UNMET]] : [[name, text]],
);

/** As the API takes it. */
export function wanted(): NonNullable<Asked["query"]> {
  const of = (name: (typeof NAMES)[number]) => query.value.get(name) || undefined;
  const state = of("state");
  const goalMet = ENDS[state as keyof typeof ENDS];
  return {
    state: goalMet ? "completed" : state,
    goal_met: goalMet,
    agent_id: of("agent"),
    created_by: of("mine") && me.value?.user,
    metadata: of("metadata"),
    goal: of("goal"),
  };
}

export function isNarrowed(): boolean {
  return NAMES.some((name) => query.value.get(name));
}

export function Filters() {
  const of = (name: string) => query.value.get(name) ?? "";
  return (
    <form class="filters" role="search" aria-label="Sessions" onSubmit={(event) => event.preventDefault()}>
      <Typed label="Words in the goal" name="goal" most={200} />
      <Choice label="State" value={of("state")} write={(name) => change("state", name)} of={[["", "All"], ...CHOICES]} />
      <AgentFilter />
      <Typed label="Metadata, as name=value" name="metadata" pattern="[^=]{1,64}=.*" />
      <Tick label="Mine" is={of("mine") !== ""} write={(is) => change("mine", is ? "1" : "")} />
      <button>Search</button>
      {isNarrowed() && (
        <button type="button" onClick={() => go(location.pathname, { replace: true })}>
          Show all
        </button>
      )}
    </form>
  );
}

/** Narrows a list to what one agent has. */
export function AgentFilter() {
  const known = useAgents();
  const id = query.value.get("agent") ?? "";
  return <Choice label="Agent" value={id} write={(next) => change("agent", next)} of={[["", "All"], ...namesOf(known.value.value, id)]} />;
}

/** What is typed counts with Enter, or when one goes on. */
function Typed({ label, name, most, pattern }: { label: string; name: string; most?: number; pattern?: string }) {
  const now = query.value.get(name) ?? "";
  const [text, setText] = useState(now);
  useEffect(() => setText(now), [now]);
  return (
    <label>
      {label}
      <input
        type="search"
        value={text}
        maxLength={most}
        pattern={pattern}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => event.currentTarget.reportValidity() && change(name, event.currentTarget.value.trim())}
      />
    </label>
  );
}

function change(name: string, value: string): void {
  narrow({ [name]: value, after: "" });
}
