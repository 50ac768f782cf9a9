/** Starts a session: puts its files into the storage first, then goes to its page. */

import { useState } from "preact/hooks";

import { PRIVATE, type Rule } from "../../api/file-names";
import { putAll, type Put } from "../../api/files";
import { ask } from "../../api/request";
import type { Session, Shapes } from "../../api/shapes";
import { Unsent, useAskBeforeLeaving, useDraft } from "../../drafts/use-draft";
import { go, to } from "../../navigation/places";
import { bytes } from "../../parts/amounts";
import { Dropzone } from "../../parts/dropzone";
import { Choice, Line } from "../../parts/field";
import { NameRule } from "../../parts/name-rule";
import { Refusal } from "../../parts/refusal";
import { useAct, useKey } from "../../parts/use-act";
import { Text } from "../../parts/words";
import { mayStart, namesOf, useAgents } from "./agents";
import { withFiles } from "./goal-text";
import { LimitFields, limitsOf, type Typed } from "./limit-fields";

type Visibility = "" | "tenant" | "private";

interface Written {
  goal: string;
  agentId: string;
  visibility: Visibility;
  limits: Typed;
}

const SEEN_BY: readonly (readonly [Visibility, string])[] = [
  ["", "As this deployment has it"],
  ["tenant", "Everybody in the team"],
  ["private", "Only me"],
];
const NOTHING: Written = { goal: "", agentId: "", visibility: "", limits: {} };

/** Chosen, and neither stored nor taken away: they outlast going to another page and back, and no more. */
let filesLeft: File[] = [];

export function NewSession() {
  const known = useAgents();
  const draft = useDraft<Written>("start", NOTHING, ({ goal }) => !goal.trim());
  const { goal, agentId, visibility, limits } = draft.value;
  const [files, chooseFiles] = useState(filesLeft);
  const setFiles = (next: File[]) => chooseFiles((filesLeft = next));
  useAskBeforeLeaving(files.length > 0);
  const [stored, setStored] = useState<Put[]>([]);
  const [rule, setRule] = useState<Rule>("both");
  const [folder, setFolder] = useState("");
  const { isBusy, failure, act } = useAct();
  const keyOf = useKey();

  const startable = (known.value.value ?? []).filter(mayStart);
  const agent = startable.find((each) => each.agent_id === (agentId || "default"));
  const place = visibility === "private" ? `${PRIVATE}${folder}` : folder;

  /** The files that were not stored yet; those that were are not sent again. Throws Error where one is not stored now. */
  async function store(): Promise<Put[]> {
    const done = [...stored];
    const left = await putAll(files, place, rule, (put) => {
      done.push(put);
      if (!put.problem) setStored(done.filter((each) => !each.problem));
    });
    const failed = left.flatMap((put, at) => (put.problem ? [files[at]!] : []));
    setFiles(failed);
    if (failed.length === 0) return done;
    const why = left.filter((each) => each.problem).map((each) => `${each.name}: ${each.problem}`);
    throw new Error(`The session was not started, because a file was not stored. ${why.join(" ")}`);
  }

  async function begin(): Promise<void> {
    const ready = await store();
    const body: Shapes["StartSession"] = { content: withFiles(goal, ready), ...limitsOf(limits) };
    if (agentId) body.agent_id = agentId;
    if (visibility) body.visibility = visibility;
    const { data } = await ask<Session>("POST", "/v1/sessions", { body, key: keyOf(body) });
    draft.drop();
    go(to("sessions", data.session_id));
  }

  return (
    <>
      <h1 tabIndex={-1}>Start a session</h1>
      <form
        class="fields start"
        onSubmit={(event) => {
          event.preventDefault();
          void act(begin);
        }}
      >
        <label>
          What is to be done?
          <textarea
            required
            rows={6}
            value={goal}
            placeholder="Read the files in reports/ and write what changed since May to changes.md"
            onInput={(event) => draft.write({ ...draft.value, goal: event.currentTarget.value })}
          />
        </label>
        <Unsent of={draft} />
        <Choice
          label="Agent"
          value={agentId}
          write={(next) => draft.write({ ...draft.value, agentId: next })}
          of={[["", "The default one"], ...namesOf(startable.filter((each) => each.agent_id !== "default"))]}
        />
        {agent?.goal && (
          <p class="hint">
            It is there for: <Text>{agent.goal}</Text>
          </p>
        )}
        <Refusal error={known.failure.value && new Error(`The agents could not be read. ${known.failure.value.message}`)} />
        <Dropzone
          label="Drop files for it here, or choose them"
          isDisabled={isBusy}
          onFiles={(more) => setFiles([...files, ...more])}
        >
          <ul class="plain" aria-label="Files for it">
            {stored.map((put) => (
              <li key={put.path ?? put.name}>
                <Text>{put.path ?? put.name}</Text> {put.path ? "is stored" : "was left out: its name exists"}
              </li>
            ))}
            {files.map((file) => (
              <li key={file}>
                <Text>{file.name}</Text> {bytes(file.size)}{" "}
                <button
                  type="button"
                  class="quiet"
                  disabled={isBusy}
                  aria-label={`Take ${file.name} away`}
                  onClick={() => setFiles(files.filter((each) => each !== file))}
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
          {files.length > 0 && (
            <div class="fields">
              <NameRule chosen={rule} onChoose={setRule} />
              <Line label={`Folder${visibility === "private" ? ", below your private files" : ""} (may stay empty)`} value={folder} write={setFolder} />
              <p class="hint">They are stored first, and their names are added to the goal so that the agent knows them.</p>
            </div>
          )}
        </Dropzone>
        <Choice
          label="Who may see it"
          value={visibility}
          write={(next) => draft.write({ ...draft.value, visibility: next as Visibility })}
          of={SEEN_BY}
        />
        {visibility === "private" && (
          <p class="hint">
            Whoever has a role that a tool names sees the questions about calls of that tool; all others are yours alone. Admins write
            what the agent and its tools do.
          </p>
        )}
        <LimitFields typed={limits} write={(next) => draft.write({ ...draft.value, limits: next })} />
        <Refusal error={failure} />
        <p class="acts">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? "Wait …" : "Start"}
          </button>
          <a href={to("sessions")}>Back to the sessions</a>
        </p>
      </form>
    </>
  );
}
