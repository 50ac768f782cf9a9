/** The versions of a prompt: two side by side, and going back to one. */

import { useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import { Confirm } from "../../parts/dialog";
import { Diff } from "../../parts/diff";
import { Choice } from "../../parts/field";
import { Table } from "../../parts/table";
import { Ago } from "../../parts/time";
import { say } from "../../parts/toasts";
import { Text, visible } from "../../parts/words";
import type { Prompt, PromptInForce } from "./prompts";

/** Instead of a version's number: the release's own text. */
const SEED = "0";

interface Shown {
  prompt: PromptInForce;
  versions: readonly Prompt[];
  onRestored: () => void;
}

export function Versions({ prompt, versions, onRestored }: Shown) {
  const [restoring, setRestoring] = useState<Prompt>();
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <Table
        label="Versions"
        rows={versions}
        name={(each) => String(each.version)}
        columns={[
          {
            title: "Version",
            cell: (each) => (
              <>
                {each.version} {each.active && <span class="tag good">In force</span>}
                {each.draft && <span class="tag warn">A draft: never in force</span>}
              </>
            ),
          },
          { title: "By", cell: (each) => <Text>{each.created_by}</Text> },
          { title: "When", cell: (each) => (each.created_at ? <Ago at={each.created_at} /> : "with the release") },
          { title: "Why", cell: (each) => (each.comment ? <Text>{each.comment}</Text> : "") },
          {
            title: "Act",
            cell: (each) =>
              each.active ? null : (
                <button type="button" onClick={() => setRestoring(each)}>
                  {each.draft ? "Put in force: version" : "Restore version"} {each.version}
                </button>
              ),
          },
        ]}
      />
      <Compare prompt={prompt} versions={versions} />
      {restoring && <Restore prompt={prompt} wanted={restoring} onDone={onRestored} onClose={() => setRestoring(undefined)} />}
    </section>
  );
}

function Compare({ prompt, versions }: { prompt: PromptInForce; versions: readonly Prompt[] }) {
  const [left, setLeft] = useState<string>();
  const [right, setRight] = useState<string>();
  const older = left ?? String(versions.find((each) => !each.active)?.version ?? SEED);
  const newer = right ?? String(prompt.version);
  const text = (name: string) =>
    name === SEED ? prompt.seed_content : (versions.find((each) => String(each.version) === name)?.content ?? "");
  const choices = [
    ...versions.map((each) => [String(each.version), `Version ${each.version}${each.active ? " (in force)" : ""}`] as const),
    [SEED, "The release's own text"] as const,
  ];
  return (
    <>
      <h2>Compare</h2>
      <div class="filters">
        <Choice label="From" value={older} write={setLeft} of={choices} />
        <Choice label="To" value={newer} write={setRight} of={choices} />
      </div>
      <Diff before={text(older)} after={text(newer)} label="What differs" />
      <details>
        <summary>Both texts side by side</summary>
        <div class="sides">
          {[older, newer].map((name, side) => (
            <pre key={side} tabIndex={0} aria-label={side ? "To" : "From"} dir="auto">
              {visible(text(name))}
            </pre>
          ))}
        </div>
      </details>
    </>
  );
}

interface Restoring {
  prompt: PromptInForce;
  wanted: Prompt;
  onDone: () => void;
  onClose: () => void;
}

function Restore({ prompt, wanted, onDone, onClose }: Restoring) {
  // What was in force when it was asked for: where another came since, the service refuses.
  const [expected] = useState(prompt);
  async function restore(): Promise<void> {
    const path = at("/v1/admin/prompts/{}/versions/{}/restore", wanted.name, wanted.version);
    const made = await ask<Prompt>("POST", path, { body: { expected_version: expected.version } });
    say(`The text of version ${wanted.version} is in force${wanted.draft ? "" : " again"}, as version ${made.data.version}.`);
    onDone();
  }
  return (
    <Confirm title={`Put the text of version ${wanted.version} in force?`} act={wanted.draft ? "Put in force" : "Restore"} onAct={restore} onClose={onClose}>
      <p>It becomes a new version, in force from the next turn. This changes:</p>
      <Diff before={expected.content} after={wanted.content} label="What changes" />
      <Warnings of={wanted.warnings} />
    </Confirm>
  );
}

/** What the service says of words that the loop reads and the text lacks. */
export function Warnings({ of }: { of: readonly string[] }) {
  return of.length > 0 ? (
    <div class="notice warning">
      The text does not have words that Acta reads in a model's replies. Runs may take more turns, or stop to ask.
      <ul>
        {of.map((each) => (
          <li key={each}>
            <Text>{each}</Text>
          </li>
        ))}
      </ul>
    </div>
  ) : null;
}
