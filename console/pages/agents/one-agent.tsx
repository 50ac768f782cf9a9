/** One agent in plain words and as JSON; admins change and delete it. */

import { useState } from "preact/hooks";

import { ask, at, get } from "../../api/request";
import { EVERY } from "../../live/how-often";
import { useEvery } from "../../live/watch";
import { written } from "../../drafts/use-draft";
import { go, to } from "../../navigation/places";
import { DeleteNamed } from "../../parts/delete-named";
import { EditJson } from "../../parts/edit-json";
import { Freshness } from "../../parts/fresh";
import { EditOrDelete, Heading } from "../../parts/heading";
import { Json } from "../../parts/json";
import { say } from "../../parts/toasts";
import { Text, visible } from "../../parts/words";
import { may } from "../../sign-in/tokens";
import type { Agent } from "./agents";

/** What a person may change. */
function fields({ agent_id, warnings, applied, version, created_at, updated_at, ...rest }: Agent): Record<string, unknown> {
  return rest;
}

export function OneAgent({ id }: { id: string }) {
  const [isEditing, setEditing] = useState(() => written(`agent/${id}`) !== undefined);
  const [isDeleting, setDeleting] = useState(false);
  const path = at("/v1/agents/{}", id);
  const live = useEvery(`agent.${id}`, (signal) => get<Agent>(path, undefined, signal), EVERY.oneAgent);
  const agent = live.value.value;

  async function save(changed: Record<string, unknown>, version: number): Promise<void> {
    const made = await ask<Agent>("PUT", path, { body: { ...changed, version } });
    say(`Version ${made.data.version} holds from the next turn of its sessions.`);
    setEditing(false);
    live.refresh();
  }

  return (
    <>
      <Heading title={agent?.name ?? id} back={["agents", "All agents"]}>
        {agent && may("admin") && !isEditing && (
          <EditOrDelete onEdit={() => setEditing(true)} onDelete={agent.version > 0 ? () => setDeleting(true) : undefined} />
        )}
      </Heading>
      <Freshness of={live} />
      {agent && isEditing && (
        <EditJson
          place={`agent/${id}`}
          label="The agent as JSON"
          act="Save"
          current={{ version: agent.version, fields: fields(agent) }}
          onSave={save}
          onOvertaken={live.refresh}
          onClose={() => setEditing(false)}
        />
      )}
      {agent && <Plain agent={agent} />}
      {agent && isDeleting && (
        <DeleteNamed
          title="Delete this agent?"
          path={path}
          version={agent.version}
          onClose={() => setDeleting(false)}
          onDone={() => {
            say("The agent is deleted. Its memories are kept.");
            go(to("agents"));
          }}
        >
          <p>No session can be started with it any more. Its memories are kept: an agent that is created later with the same id has them.</p>
        </DeleteNamed>
      )}
    </>
  );
}

/** What its definition says of another agent that it may call. */
function said(entry: Agent["agents"][number]): string {
  const parts = Object.entries(entry.caps).map(([name, most]) => `${name.replaceAll("_", " ")} ${most}`);
  if (entry.as) parts.unshift(`as ${entry.as}`);
  if (entry.files === "given") parts.push("only the files that it is given");
  if (entry.description) parts.push(entry.description);
  return parts.length ? `: ${parts.join(", ")}` : "";
}

function Plain({ agent }: { agent: Agent }) {
  const limits = Object.entries(agent.limits);
  return (
    <>
      {agent.warnings.map((each) => (
        <p key={each} class="notice warning">
          <Text>{each}</Text>
        </p>
      ))}
      <dl>
        <dt>It is there to</dt>
        <dd>{agent.goal ? <Text>{agent.goal}</Text> : "do what it is told"}</dd>
        <dt>Model</dt>
        <dd>
          {agent.model ? <Text>{agent.model}</Text> : "the deployment's"}
          {agent.effort && `, effort ${agent.effort}`}
          {agent.temperature !== null && `, temperature ${agent.temperature}`}
        </dd>
        {agent.judge && (
          <>
            <dt>Judge</dt>
            <dd>
              <Text>{agent.judge.model}</Text>
            </dd>
          </>
        )}
        <dt>Tools</dt>
        <dd>
          {agent.tools === "all"
            ? "every tool of the team, also one that is added later"
            : agent.tools.map((name) => (
                <span key={name}>
                  <a href={to("tools", name)}>{visible(name)}</a>{" "}
                </span>
              ))}
        </dd>
        {agent.deny.length > 0 && (
          <>
            <dt>Never has</dt>
            <dd>
              <Text>{agent.deny.join(", ")}</Text>
            </dd>
          </>
        )}
        {agent.agents.length > 0 && (
          <>
            <dt>May call</dt>
            <dd>
              <ul>
                {agent.agents.map((entry) => (
                  <li key={entry.as ?? entry.agent}>
                    <a href={to("agents", entry.agent)}>{visible(entry.agent)}</a>
                    <Text>{said(entry)}</Text>
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
        <dt>A person approves</dt>
        <dd>{agent.high_stakes.length ? <Text>{agent.high_stakes.join(", ")}</Text> : "what the tools themselves say"}</dd>
        <dt>Limits</dt>
        <dd>{limits.length ? limits.map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ") : "the deployment's"}</dd>
        <dt>Started by</dt>
        <dd>{agent.start_roles.length ? <Text>{agent.start_roles.join(", ")}</Text> : "any member"}</dd>
        <dt>Prompts</dt>
        <dd>
          its own below, then {may("admin") ? <a href={to("prompts", "agent_planning_system")}>how it plans</a> : "how it plans"}
        </dd>
        <dt>Version</dt>
        <dd>{agent.version || "built in"}</dd>
      </dl>
      <h2>Its own prompt</h2>
      <pre class="prompt" tabIndex={0} aria-label="Its own prompt" dir="auto">
        {visible(agent.system_prompt)}
      </pre>
      <details>
        <summary>As JSON</summary>
        <Json value={agent} label="The whole agent" />
      </details>
    </>
  );
}
