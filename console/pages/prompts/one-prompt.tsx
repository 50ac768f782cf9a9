/** One prompt: the text in force, its versions, and what changes it. */

import { useState } from "preact/hooks";

import { all, at, get } from "../../api/request";
import { EVERY } from "../../live/how-often";
import { useEvery } from "../../live/watch";
import { written } from "../../drafts/use-draft";
import { Owned } from "../../parts/owned";
import { Freshness } from "../../parts/fresh";
import { Heading, MainAct } from "../../parts/heading";
import { Ago } from "../../parts/time";
import { Text, visible } from "../../parts/words";
import { EditPrompt, placeOf } from "./edit-prompt";
import type { Prompt, PromptInForce } from "./prompts";
import { TryPrompt } from "./try-prompt";
import { Versions, Warnings } from "./versions";

interface Read {
  prompt: PromptInForce;
  versions: Prompt[];
}

export function OnePrompt({ name }: { name: string }) {
  const [isEditing, setEditing] = useState(() => written(placeOf(name)) !== undefined);
  const live = useEvery<Read>(`prompt.${name}`, async (signal) => ({
    prompt: await get<PromptInForce>(at("/v1/admin/prompts/{}", name), undefined, signal),
    versions: await all<Prompt>(at("/v1/admin/prompts/{}/versions", name), { limit: 100 }),
  }), EVERY.onePrompt);
  const found = live.value.value;
  return (
    <>
      <Heading title={name} back={["prompts", "All prompts"]}>
        {found && !isEditing && <MainAct act="Edit" onClick={() => setEditing(true)} />}
      </Heading>
      <Freshness of={live} />
      {found && (
        <>
          <p>
            <Text>{found.prompt.description}</Text>
          </p>
          <InForce prompt={found.prompt} />
          {isEditing ? (
            <EditPrompt
              current={found.prompt}
              versions={found.versions}
              onOvertaken={live.refresh}
              onDone={() => {
                setEditing(false);
                live.refresh();
              }}
            />
          ) : (
            <>
              <pre class="prompt" tabIndex={0} aria-label="The text in force" dir="auto">
                {visible(found.prompt.content)}
              </pre>
              <TryPrompt current={found.prompt} versions={found.versions} />
            </>
          )}
          <Versions prompt={found.prompt} versions={found.versions} onRestored={live.refresh} />
        </>
      )}
    </>
  );
}

function InForce({ prompt }: { prompt: PromptInForce }) {
  return (
    <>
      <p>
        <span class="tag good">In force</span> Version {prompt.version}
        {prompt.created_at ? (
          <>
            {" "}
            by <Text>{prompt.created_by}</Text>, <Ago at={prompt.created_at} />
          </>
        ) : (
          ", as the release brought it"
        )}
        {prompt.comment && (
          <>
            : <Text>{prompt.comment}</Text>
          </>
        )}
      </p>
      <Warnings of={prompt.warnings} />
      <Owned by={prompt.applied} />
    </>
  );
}
