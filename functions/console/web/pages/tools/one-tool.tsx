/** One tool: what it takes, what becomes of a call, who approves it and who uses it; admins make a trial call. */

import { useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { Unsent, useDraft } from "../../drafts/use-draft";
import type { Live } from "../../live/watch";
import { to } from "../../navigation/places";
import { fieldsOf } from "../../parts/edit-json";
import { Freshness } from "../../parts/fresh";
import { Json } from "../../parts/json";
import { Refusal } from "../../parts/refusal";
import { Quoted, Text, visible } from "../../parts/words";
import { may } from "../../sign-in/tokens";
import { approval, EFFECTS, kindOf, type Listed, type Tool } from "./tools";

type ToolTrial = Shapes["ToolTrial"];

export function OneTool({ name, live }: { name: string; live: Live<Listed> }) {
  const found = live.value.value;
  const tool = found?.tools.find((each) => each.name === name);
  const users = found?.agents.filter((each) => each.tools.length === 0 || each.tools.includes(name)) ?? [];
  return (
    <>
      <p>
        <a href={to("tools")}>All tools</a>
      </p>
      <h1 tabIndex={-1}>{visible(name)}</h1>
      <Freshness of={live} />
      {found && !tool && <p class="empty">There is no tool of this name.</p>}
      {tool && (
        <>
          <Quoted by="What models are told of it">{tool.description}</Quoted>
          <dl>
            <dt>Kind</dt>
            <dd>{kindOf(tool)}</dd>
            <dt>Effect</dt>
            <dd>{EFFECTS[tool.effect]}</dd>
            <dt>Risk</dt>
            <dd>{tool.risk}</dd>
            <dt>Approved by</dt>
            <dd>{approval(tool)}</dd>
            <dt>May take</dt>
            <dd>{tool.timeout_seconds} s</dd>
            <dt>Used by</dt>
            <dd>
              {users.length === 0 && "no agent"}
              {users.map((each) => (
                <span key={each.agent_id}>
                  <a href={to("agents", each.agent_id)}>
                    <Text>{each.name}</Text>
                  </a>
                  {each.tools.length === 0 && " (it has every tool)"}{" "}
                </span>
              ))}
            </dd>
          </dl>
          <h2>What it takes</h2>
          <Json value={tool.input_schema} label="Its schema" />
          {may("admin") && tool.kind !== "builtin" && <Trial tool={tool} />}
          {tool.kind === "builtin" && <p class="hint">It works on a session: to try it, start one.</p>}
        </>
      )}
    </>
  );
}

const ENDS: Record<ToolTrial["outcome"], string> = {
  succeeded: "It succeeded.",
  failed: "It ran and failed.",
  not_run: "Nothing was done.",
  unknown: "No answer came: whether it happened is not known.",
};

function Trial({ tool }: { tool: Tool }) {
  const draft = useDraft(`trial/${tool.name}`, "{}");
  const [isSure, setSure] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [trial, setTrial] = useState<ToolTrial>();
  const [failure, setFailure] = useState<unknown>();

  async function call(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    setTrial(undefined);
    try {
      const body = { input: fieldsOf(draft.value), confirm: isSure };
      setTrial((await ask<ToolTrial>("POST", at("/v1/tools/{}/call", tool.name), { body })).data);
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  }

  return (
    <section aria-labelledby="trial">
      <h2 id="trial">Call it once</h2>
      <p class="hint">
        Outside any session, with your own rights.{tool.effect === "read" ? "" : " The call is real: what it changes stays changed."}
      </p>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void call();
        }}
      >
        <label>
          Input, as JSON
          <textarea value={draft.value} spellcheck={false} onInput={(event) => draft.write(event.currentTarget.value)} />
        </label>
        <Unsent of={draft} />
        {tool.high_stakes && (
          <label class="check">
            <input type="checkbox" checked={isSure} onChange={(event) => setSure(event.currentTarget.checked)} />I approve this call
            myself
          </label>
        )}
        <Refusal error={failure} />
        <p class="acts">
          <button type="submit" class="primary" disabled={isBusy || (tool.high_stakes && !isSure)}>
            {isBusy ? "Wait …" : "Call it"}
          </button>
        </p>
      </form>
      {trial && (
        <div role="status">
          <p>
            {ENDS[trial.outcome]} It took {trial.duration_ms} ms. <code>{trial.effect_id}</code>
          </p>
          {trial.error && (
            <p class="notice bad">
              <Text>{trial.error.message}</Text> {trial.error.remedy && <Text>{trial.error.remedy}</Text>}
            </p>
          )}
          {trial.result !== null && <Quoted by={trial.truncated ? "The beginning of its answer" : "Its answer"}>{trial.result}</Quoted>}
        </div>
      )}
    </section>
  );
}
