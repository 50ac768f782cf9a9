/** Tries a text of a prompt before it is in force: a new session, or a fork of one, works by it, and nothing else does. */

import { useState } from "preact/hooks";

import { ask, at, get } from "../../api/request";
import type { Page, Session, Shapes } from "../../api/shapes";
import { useLive } from "../../live/watch";
import { go, to } from "../../navigation/places";
import { Refusal } from "../../parts/refusal";
import { visible } from "../../parts/words";
import { doing } from "../session/states";
import type { Prompt, PromptInForce } from "./prompts";

type Message = Shapes["Message"];

const MOST_CHARS = 60;
const WRITTEN = "written";
/** Places beside the numbers of events. */
const [BEGINNING, NOW] = ["beginning", "now"];

interface Shown {
  current: PromptInForce;
  versions: readonly Prompt[];
  /** What stands in the editor; undefined: nothing that could be tried. */
  written?: string | undefined;
}

export function TryPrompt(shown: Shown) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Try it on a session</summary>
      {isOpen && <Sessions {...shown} />}
    </details>
  );
}

function Sessions(shown: Shown) {
  const live = useLive<Session[]>("prompts.sessions", async (_, signal) => ({
    value: (await get<Page<Session>>("/v1/sessions", { limit: 30 }, signal)).items.filter((each) => each.run),
    again: Infinity,
  }));
  const sessions = live.value.value;
  if (sessions?.length === 0) return <p class="hint">There is no session to try it on.</p>;
  return sessions ? <Form {...shown} sessions={sessions} /> : null;
}

function Form({ current, versions, written, sessions }: Shown & { sessions: readonly Session[] }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const [place, setPlace] = useState(BEGINNING);
  const [content, setContent] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const session = sessions.find((each) => each.session_id === chosen) ?? sessions[0]!;
  const said = useLive<Message[]>(`prompts.places.${session.session_id}`, async (_, signal) => ({
    value: (await get<Page<Message>>(at("/v1/sessions/{}/messages", session.session_id), { limit: 100 }, signal)).items,
    again: Infinity,
  })).value.value;
  const goal = said?.find(({ role }) => role === "user");
  const version = text || (written === undefined ? String(current.version) : WRITTEN);

  /** The number of the version to try. What is written becomes a draft, in force nowhere. */
  async function numberToTry(): Promise<number> {
    if (version !== WRITTEN || written === undefined) return Number(version === WRITTEN ? current.version : version);
    const body = { content: written, active: false, expected_version: current.version };
    return (await ask<Prompt>("PUT", at("/v1/admin/prompts/{}", current.name), { body })).data.version;
  }

  async function attempt(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      const prompts = { [current.name]: await numberToTry() };
      const { session_id, agent_id, visibility } = session;
      const words = content.trim();
      const made =
        place === BEGINNING
          ? await ask<Session>("POST", "/v1/sessions", { body: { content: words || goal?.content, agent_id, visibility, prompts } })
          : await ask<Session>("POST", at("/v1/sessions/{}/fork", session_id), {
              body: { prompts, ...(place === NOW ? {} : { at: Number(place) }), ...(words ? { content: words } : {}) },
            });
      go(to("sessions", made.data.session_id));
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  }

  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt();
      }}
    >
      <p class="hint">
        A new session works by the text that you choose; all others work by the one in force. It works on the real files.
      </p>
      <label>
        Text
        <select value={version} onChange={(event) => setText(event.currentTarget.value)}>
          {written !== undefined && <option value={WRITTEN}>What I have written</option>}
          {versions.map((each) => (
            <option key={each.version} value={String(each.version)}>
              Version {each.version}
              {each.active ? " (in force)" : each.draft ? " (a draft)" : ""}
            </option>
          ))}
        </select>
      </label>
      <label>
        Session
        <select value={session.session_id} onChange={(event) => setChosen(event.currentTarget.value)}>
          {sessions.map((each) => (
            <option key={each.session_id} value={each.session_id}>
              {visible(each.goal || "No goal").slice(0, MOST_CHARS)} · {doing(each)}
            </option>
          ))}
        </select>
      </label>
      <label>
        From where
        <select value={place} onChange={(event) => setPlace(event.currentTarget.value)}>
          <option value={BEGINNING}>The beginning: the same goal, nothing done yet</option>
          <option value={NOW}>Where it stands</option>
          {said
            ?.filter(({ role }) => role === "assistant")
            .map((each) => (
              <option key={each.seq} value={String(each.seq)}>
                After: {wordsOf(each)}
              </option>
            ))}
        </select>
      </label>
      <label>
        {place === BEGINNING ? "Another goal (empty: the same)" : "What it is told (empty: it goes on as it was)"}
        <textarea value={content} onInput={(event) => setContent(event.currentTarget.value)} />
      </label>
      <Refusal error={failure} />
      <p class="acts">
        <button type="submit" class="primary" disabled={isBusy || (place === BEGINNING && !goal)}>
          {isBusy ? "Wait …" : "Try it and watch"}
        </button>
      </p>
    </form>
  );
}

function wordsOf({ content, tool_calls: calls }: Message): string {
  const words = content.trim() || `it calls ${(calls ?? []).map(({ name }) => name).join(", ")}`;
  return visible(words.replace(/\s+/g, " ")).slice(0, MOST_CHARS);
}
