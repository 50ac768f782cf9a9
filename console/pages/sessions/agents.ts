/** The agents of the tenant, for choosing one. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { all } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { visible } from "../../parts/words";
import { may } from "../../sign-in/tokens";

export type Agent = Shapes["Agent"];

const value = signal<Agent[] | undefined>(undefined);
const failure = signal<Error | undefined>(undefined);

/** What was read last. */
export const agents = { value, failure };

/** Reads them when the component is shown. */
export function useAgents(): typeof agents {
  useEffect(() => {
    all<Agent>("/v1/agents").then(
      (found) => {
        value.value = found;
        failure.value = undefined;
      },
      (error: Error) => {
        failure.value = error;
      },
    );
  }, []);
  return agents;
}

/** Those whose sessions that person may start. */
export function mayStart({ start_roles }: Pick<Agent, "start_roles">): boolean {
  return start_roles.length === 0 || start_roles.some(may);
}

/** Ids with what a menu says of them; `chosen` is among them, whether it exists or not. Agents that share a name are shown
 *  with their ids. */
export function namesOf(found: readonly Agent[] = [], chosen = ""): [string, string][] {
  const isShared = (name: string) => found.filter((each) => each.name === name).length > 1;
  const named = found.map(({ agent_id, name }): [string, string] => [agent_id, visible(isShared(name) ? `${name} (${agent_id})` : name)]);
  if (chosen && !found.some(({ agent_id }) => agent_id === chosen)) named.push([chosen, visible(chosen)]);
  return named;
}

/** What an agent is called; one that is deleted or not read yet is named by its id. */
export function nameOf(agentId: string): string {
  return value.value?.find(({ agent_id }) => agent_id === agentId)?.name ?? agentId;
}
