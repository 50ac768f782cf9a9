/** Tries a text of a prompt before it is in force: a new session, or a fork of one, works by it, and nothing else does. */

import { useState } from "preact/hooks";

import { ask, at, get } from "../../api/request";
import type { Page, Session, Shapes } from "../../api/shapes";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { useEvery } from "../../live/watch";
import { go, to } from "../../navigation/places";
import { Area, Choice } from "../../parts/field";
import { Form } from "../../parts/form";
import { stateInWords } from "../../parts/session-state";
import { beginning, visible } from "../../parts/words";
import type { Prompt, PromptInForce } from "./prompts";

type Message = Shapes["Message"];

const MOST_CHARS = 60;
const WRITTEN = "written";
/** Where a session may begin, apart from the turn of an event. */
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
  const live = useEvery<Session[]>("prompts.sessions", async (signal) => {
    const newest = await get<Page<Session>>("/v1/sessions", { limit: 30 }, signal);
    return newest.items.filter((each) => each.run);
  }, Infinity);
  const sessions = live.value.value;
  if (sessions?.length === 0) return <p class="hint">There is no session to try it in.</p>;
  return sessions ? <Attempt {...shown} sessions={sessions} /> : null;
}

function Attempt({ current, versions, written, sessions }: Shown & { sessions: readonly Session[] }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const [place, setPlace] = useState(BEGINNING!);
  const draft = useDraft("try-prompt", "");
  const session = sessions.find((each) => each.session_id === chosen) ?? sessions[0]!;
  const said = useEvery(`prompts.places.${session.session_id}`, (signal) =>
    get<Page<Message>>(at("/v1/sessions/{}/messages", session.session_id), { limit: 100 }, signal),
    Infinity,
  ).value.value?.items;
  const goal = said?.find(({ role }) => role === "user");
  const version = text || (written === undefined ? String(current.version) : WRITTEN);

  /** The number of the version to try. What is written becomes a draft, in force nowhere. */
  async function numberToTry(): Promise<number> {
    if (version !== WRITTEN || written === undefined) return Number(version === WRITTEN ? current.version : version);
    const body = { content: written, active: false, expected_version: current.version };
    return (await ask<Prompt>("PUT", at("/v1/admin/prompts/{}", current.name), { body })).data.version;
  }

  async function attempt(): Promise<void> {
    const prompts = { [current.name]: await numberToTry() };
    const { session_id, agent_id, visibility } = session;
    const words = draft.value.trim();
    const made =
      place === BEGINNING
        ? await ask<Session>("POST", "/v1/sessions", { body: { content: words || goal?.content, agent_id, visibility, prompts } })
        : await ask<Session>("POST", at("/v1/sessions/{}/fork", session_id), {
            body: { prompts, ...(place === NOW ? {} : { at: Number(place) }), ...(words ? { content: words } : {}) },
          });
    draft.drop();
    go(to("sessions", made.data.session_id));
  }

  return (
    <Form act="Try it and watch" onSend={attempt} isReady={place !== BEGINNING || goal !== undefined}>
      <p class="hint">
        A new session works by the text that you choose; all others work by the one in force. It works on the real files.
      </p>
      <Choice
        label="Text"
        value={version}
        write={setText}
        of={[
          ...(written === undefined ? [] : [[WRITTEN, "What I have written"] as const]),
          ...versions.map((each) => [String(each.version), `Version ${each.version}${standing(each)}`] as const),
        ]}
      />
      <Choice
        label="Session"
        value={session.session_id}
        write={setChosen}
        of={sessions.map((each) => [each.session_id, `${beginning(visible(each.goal || "No goal"), MOST_CHARS)} · ${stateInWords(each).text}`])}
      />
      <Choice
        label="From where"
        value={place}
        write={setPlace}
        of={[
          [BEGINNING!, "The beginning: the same goal, nothing done yet"],
          [NOW!, "Where it stands"],
          ...(said ?? []).filter(({ role }) => role === "assistant").map((each) => [String(each.seq), `After: ${wordsOf(each)}`] as const),
        ]}
      />
      <Area
        label={place === BEGINNING ? "Another goal (empty: the same)" : "A message to it (empty: it goes on without one)"}
        value={draft.value}
        write={draft.write}
      />
      <Unsent of={draft} />
    </Form>
  );
}

export function standing({ active, draft }: Prompt): string {
  return active ? " (in force)" : draft ? " (a draft)" : "";
}

function wordsOf({ content, tool_calls: calls }: Message): string {
  const words = content.trim() || `it calls ${(calls ?? []).map(({ name }) => name).join(", ")}`;
  return beginning(visible(words.replace(/\s+/g, " ")), MOST_CHARS);
}
