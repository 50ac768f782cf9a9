/** Tries the prompt in force on a session that there is: a fork of it, which leaves the session itself alone. */

import { useState } from "preact/hooks";

import { ask, at, get } from "../../api/request";
import type { Page, Session } from "../../api/shapes";
import { useLive } from "../../live/watch";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { go, to } from "../../navigation/places";
import { Refusal } from "../../parts/refusal";
import { visible } from "../../parts/words";
import { doing } from "../session/states";

const MOST_CHARS = 60;

export function TryPrompt() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Try it on a session</summary>
      {isOpen && <Form />}
    </details>
  );
}

function Form() {
  const live = useLive<Session[]>("prompts.sessions", async (_, signal) => ({
    value: (await get<Page<Session>>("/v1/sessions", { limit: 30 }, signal)).items,
    again: Infinity,
  }));
  const [chosen, setChosen] = useState("");
  const draft = useDraft("try-prompt", "");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const sessions = live.value.value ?? [];
  const session = sessions.find((each) => each.session_id === chosen) ?? sessions[0];

  async function fork(of: Session): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      const said = draft.value.trim();
      const made = await ask<Session>("POST", at("/v1/sessions/{}/fork", of.session_id), { body: said ? { content: said } : {} });
      draft.drop();
      go(to("sessions", made.data.session_id));
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  }

  if (live.value.value && !session) return <p class="hint">There is no session to try it on.</p>;
  return session ? (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void fork(session);
      }}
    >
      <p class="hint">
        A fork is a new session with a copy of the conversation. It works by the text in force, and on the real files. To try
        another text, put it in force, fork, and restore the version before if it is no better.
      </p>
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
        What the fork is told (empty: it goes on as it was)
        <textarea value={draft.value} onInput={(event) => draft.write(event.currentTarget.value)} />
      </label>
      <Unsent of={draft} />
      <Refusal error={failure} />
      <p class="acts">
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Wait …" : "Fork and watch"}
        </button>
      </p>
    </form>
  ) : null;
}
