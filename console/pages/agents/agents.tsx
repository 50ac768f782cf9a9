/** Who works: the agents, and one of them. */

import { useState } from "preact/hooks";

import { all, ask } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { useEvery } from "../../live/watch";
import { written } from "../../drafts/use-draft";
import { go, path, to } from "../../navigation/places";
import { EditJson } from "../../parts/edit-json";
import { Freshness } from "../../parts/fresh";
import { Heading, MainAct } from "../../parts/heading";
import { say } from "../../parts/toasts";
import { Text } from "../../parts/words";
import { may } from "../../sign-in/tokens";
import { OneAgent } from "./one-agent";

export type Agent = Shapes["Agent"];

/** Where a new one is kept while it is written. */
const PLACE = "new-agent";
const NEW = { agent_id: "my-agent", name: "My agent", system_prompt: "You …", goal: "", tools: [], limits: {} };

export function Agents() {
  const id = path.value[1];
  return id ? <OneAgent key={id} id={id} /> : <List />;
}

function List() {
  const [isMaking, setMaking] = useState(() => written(PLACE) !== undefined);
  const live = useEvery<Agent[]>("agents", () => all<Agent>("/v1/agents"));

  async function create(fields: Record<string, unknown>): Promise<void> {
    const made = await ask<Agent>("POST", "/v1/agents", { body: fields });
    say("The agent is created. You can start sessions with it.");
    go(to("agents", made.data.agent_id));
  }

  return (
    <>
      <Heading title="Agents">
        {may("admin") && !isMaking && <MainAct act="New agent" onClick={() => setMaking(true)} />}
      </Heading>
      <Freshness of={live} />
      {isMaking && (
        <EditJson
          place={PLACE}
          label="The agent as JSON"
          act="Make it"
          current={{ version: 0, fields: NEW }}
          onSave={create}
          onOvertaken={() => undefined}
          onClose={() => setMaking(false)}
        />
      )}
      <ul class="cards">
        {live.value.value?.map((each) => (
          <li key={each.agent_id} class="card">
            <a href={to("agents", each.agent_id)}>
              <Text>{each.name}</Text>
            </a>{" "}
            <code>{each.agent_id}</code> {each.warnings.length > 0 && <span class="tag warn">What it names is missing</span>}
            <div>
              <Text>{each.goal}</Text>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
