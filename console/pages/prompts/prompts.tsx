/** The prompts that Acta works by, and one of them. For admins. */

import { all } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { useEvery } from "../../live/watch";
import { path, to } from "../../navigation/places";
import { Freshness } from "../../parts/fresh";
import { Ago } from "../../parts/time";
import { Text } from "../../parts/words";
import { OnePrompt } from "./one-prompt";

export type Prompt = Shapes["Prompt"];
export type PromptInForce = Shapes["PromptInForce"];

export function Prompts() {
  const name = path.value[1];
  return name ? <OnePrompt key={name} name={name} /> : <List />;
}

function List() {
  const live = useEvery<Prompt[]>("prompts", () => all<Prompt>("/v1/admin/prompts"));
  return (
    <>
      <h1 tabIndex={-1}>Prompts</h1>
      <p class="hint">How agents are told to plan. A change is in force from the next turn of every session of the team.</p>
      <Freshness of={live} />
      <ul class="cards">
        {live.value.value?.map((each) => (
          <li key={each.name} class="card">
            <a href={to("prompts", each.name)}>{each.name}</a>{" "}
            {each.warnings.length > 0 && <span class="tag warn">Words are missing</span>}
            <div>
              <Text>{each.description}</Text>
            </div>
            <div class="hint">
              Version {each.version}
              {each.created_at ? (
                <>
                  , <Text>{each.created_by}</Text>, <Ago at={each.created_at} />
                </>
              ) : (
                ", as the release brought it"
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
