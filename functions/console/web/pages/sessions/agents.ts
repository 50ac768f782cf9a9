/** The agents of the tenant, for choosing one. */

import { signal } from "@preact/signals";

import { all } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { visible } from "../../parts/words";
import { may } from "../../sign-in/tokens";

export type Agent = Shapes["Agent"];

const value = signal<Agent[] | undefined>(undefined);
const failure = signal<Error | undefined>(undefined);

/** `begin` reads them; what was read last is there until then. */
export function agents() {
  return { value, failure, begin };
}

function begin(): void {
  all<Agent>("/v1/agents").then(
    (found) => {
      value.value = found;
      failure.value = undefined;
    },
    (error: Error) => {
      failure.value = error;
    },
  );
}

/** Those whose sessions that person may start. */
export function mayStart({ start_roles }: Pick<Agent, "start_roles">): boolean {
  return start_roles.length === 0 || start_roles.some(may);
}

/** Ids with what a menu says of them; `chosen` is among them, whether it exists or not. */
export function namesOf(found: readonly Agent[] = [], chosen = ""): [string, string][] {
  const named = found.map(({ agent_id, name }): [string, string] => [
    agent_id,
    visible(name && name !== agent_id ? `${name} (${agent_id})` : agent_id),
  ]);
  if (chosen && !found.some(({ agent_id }) => agent_id === chosen)) named.push([chosen, visible(chosen)]);
  return named;
}
