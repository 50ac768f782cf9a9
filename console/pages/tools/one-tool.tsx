/** One tool: what it takes, what becomes of a call, who approves it and who uses it; admins make a trial call. */

import { useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { dropDraft, Unsent, useDraft, written } from "../../drafts/use-draft";
import type { Live } from "../../live/watch";
import { go, to } from "../../navigation/places";
import { DeleteNamed } from "../../parts/delete-named";
import { fieldsOf } from "../../parts/edit-json";
import { Area, Tick } from "../../parts/field";
import { Form } from "../../parts/form";
import { Owned } from "../../parts/owned";
import { Freshness } from "../../parts/fresh";
import { EditOrDelete, Heading } from "../../parts/heading";
import { Json } from "../../parts/json";
import { say } from "../../parts/toasts";
import { Quoted, Text, visible } from "../../parts/words";
import { may } from "../../sign-in/tokens";
import { ToolForm } from "./tool-form";
import { approval, EFFECTS, kindOf, type Listed, type Tool } from "./tool";

type ToolTrial = Shapes["ToolTrial"];

export function OneTool({ name, live }: { name: string; live: Live<Listed> }) {
  const found = live.value.value;
  const tool = found?.tools.find((each) => each.name === name);
  const users = found?.agents.filter(({ tools, deny }) => !deny.includes(name) && (tools === "all" || tools.includes(name))) ?? [];
  const [isEditing, setEditing] = useState(() => written(`tool/${name}`) !== undefined);
  const [isDeleting, setDeleting] = useState(false);
  const isOwn = tool !== undefined && may("admin") && (tool.kind === "http" || tool.kind === "lambda");
  return (
    <>
      <Heading title={name} back={["tools", "All tools"]}>
        {isOwn && !isEditing && <EditOrDelete onEdit={() => setEditing(true)} onDelete={() => setDeleting(true)} />}
      </Heading>
      <Freshness of={live} />
      {found && !tool && <p class="empty">There is no tool of this name.</p>}
      {isOwn && isEditing && (
        <ToolForm
          tool={tool}
          onClose={() => setEditing(false)}
          onDone={() => {
            setEditing(false);
            live.refresh();
          }}
        />
      )}
      {isOwn && isDeleting && (
        <DeleteNamed
          title={`Delete the tool ${name}?`}
          path={at("/v1/tools/{}", name)}
          version={tool.version ?? 1}
          onClose={() => setDeleting(false)}
          onDone={() => {
            say("The tool is deleted.");
            live.refresh();
            go(to("tools"));
          }}
        >
          <p>Agents no longer have it.</p>
        </DeleteNamed>
      )}
      {tool && (
        <>
          <Owned by={tool.applied} />
          <Quoted by="Its description for models">{tool.description}</Quoted>
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
                  {each.tools === "all" && " (it has every tool)"}{" "}
                </span>
              ))}
            </dd>
          </dl>
          <h2>What it takes</h2>
          <Json value={tool.input_schema} label="Its schema" />
          {may("admin") && tool.kind !== "builtin" && <Trial tool={tool} />}
          {tool.kind === "mcp" && may("admin") && (
            <p>
              It is a tool of the MCP server <a href={to("servers", name.split("__")[0]!)}>{visible(name.split("__")[0]!)}</a>.
            </p>
          )}
          {tool.kind === "builtin" && <p class="hint">It works only in a session: start one to try it.</p>}
        </>
      )}
    </>
  );
}

const ENDS: Record<ToolTrial["outcome"], string> = {
  succeeded: "It succeeded.",
  failed: "It ran and failed.",
  not_run: "Nothing was done.",
  unknown: "No answer came, so nobody knows whether it happened.",
};

function Trial({ tool }: { tool: Tool }) {
  const draft = useDraft(`trial/${tool.name}`, "{}");
  const [isSure, setSure] = useState(false);
  const [trial, setTrial] = useState<ToolTrial>();

  async function call(): Promise<void> {
    setTrial(undefined);
    const body = { input: fieldsOf(draft.value), confirm: isSure };
    setTrial((await ask<ToolTrial>("POST", at("/v1/tools/{}/call", tool.name), { body })).data);
    dropDraft(`trial/${tool.name}`); // it stays to be read beside the answer
  }

  return (
    <section aria-labelledby="trial">
      <h2 id="trial">Call it once</h2>
      <p class="hint">
        The call is made outside any session, with your own permissions.{tool.effect === "read" ? "" : " It is a real call: its effects remain."}
      </p>
      <Form act="Call it" onSend={call} isReady={!tool.high_stakes || isSure}>
        <Area label="Input, as JSON" value={draft.value} write={draft.write} />
        {!trial && <Unsent of={draft} />}
        {tool.high_stakes && <Tick label="I approve this call myself" is={isSure} write={setSure} />}
      </Form>
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
