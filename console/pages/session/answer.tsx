/** What came of the run: its answer as Markdown or as data, and the files that it made. */

import { useState } from "preact/hooks";

import { ask, at, get } from "../../api/request";
import type { Event, Session } from "../../api/shapes";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { Area } from "../../parts/field";
import { Form } from "../../parts/form";
import { Json } from "../../parts/json";
import { Markdown } from "../../parts/markdown";
import { say, sayError } from "../../parts/toasts";
import { Quoted, Text } from "../../parts/words";
import { me } from "../../sign-in/tokens";
import { filePage } from "../files/listing";
import { download } from "../files/saving";
import { filesOf } from "./feed";

/** Characters of an answer in the session; a longer one is in the trace. */
const SHORT = 4_000;

interface Shown {
  session: Session;
  events: readonly Event[];
  onDone: () => void;
}

export function Answer({ session, events, onDone }: Shown) {
  const [whole, setWhole] = useState<string>();
  const { result } = session;
  if (!result || (result.answer === null && result.data === null)) return null;
  const read = async () => {
    const path = at("/v1/sessions/{}/trace", session.session_id);
    const found = await get<{ answer: string | null }>(path, { include: "answer", limit: 1 });
    setWhole(found.answer ?? "");
  };
  const shown = whole ?? result.answer ?? "";
  return (
    <section aria-labelledby="answer">
      <h2 id="answer">Answer</h2>
      {result.data !== null ? (
        <Json value={result.data} label="The answer as data" />
      ) : (
        <Quoted by="The agent's answer">
          <Markdown>{shown}</Markdown>
        </Quoted>
      )}
      {result.verdict && (
        <Quoted by={result.verdict.met === null ? "There is no verdict of the agent's judge" : `The agent's judge: the goal is ${result.verdict.met ? "" : "not "}met`}>
          {result.verdict.reason}
        </Quoted>
      )}
      {whole === undefined && shown.length >= SHORT && result.data === null && (
        <button type="button" onClick={() => read().catch(sayError)}>
          Show the whole answer
        </button>
      )}
      <Rating session={session} events={events} onDone={onDone} />
    </section>
  );
}

const OPINIONS = [
  ["up", "Good answer"],
  ["down", "Bad answer"],
] as const;

/** What the person at the page thinks of the answer, and what others do. */
function Rating({ session, events, onDone }: Shown) {
  const runId = session.run?.run_id;
  const draft = useDraft(`session/${session.session_id}/comment/${runId}`, "");
  const given = session.ratings.filter((each) => each.run_id === runId);
  const mine = given.find(({ by }) => by === me.value?.user)?.rating;
  const ups = given.filter(({ rating }) => rating === "up").length;
  const said = events.filter(({ type, data }) => type === "answer.rated" && data["run_id"] === runId && data["comment"]);
  async function rate(rating: "up" | "down", comment?: string): Promise<void> {
    await ask("POST", at("/v1/sessions/{}/rating", session.session_id), { body: { rating, run_id: runId, ...(comment && { comment }) } });
    say(comment ? "Your comment is stored." : "Your rating is stored.");
    onDone();
  }
  return (
    <>
      <div class="acts controls" role="group" aria-label="Rate the answer">
        {OPINIONS.map(([rating, words]) => (
          <button key={rating} type="button" aria-pressed={mine === rating} onClick={() => rate(rating).catch(sayError)}>
            {words}
          </button>
        ))}
        {given.length > 0 && (
          <span class="hint">
            {ups} good, {given.length - ups} bad
          </span>
        )}
      </div>
      {said.map(({ seq, data }) => (
        <Quoted key={seq} by={`${String(data["by"])} says of the answer`}>
          {String(data["comment"])}
        </Quoted>
      ))}
      {mine && (
        <Form
          act="Send the comment"
          isReady={!!draft.value.trim()}
          onSend={async () => {
            await rate(mine, draft.value.trim());
            draft.drop();
          }}
        >
          <Area label="Why? (The agent does not read this.)" rows={2} value={draft.value} write={draft.write} />
          <Unsent of={draft} />
        </Form>
      )}
    </>
  );
}

export function Files({ events }: { events: readonly Event[] }) {
  const made = filesOf(events);
  if (!made.length) return null;
  return (
    <section aria-labelledby="files">
      <h2 id="files">Files it wrote</h2>
      <ul class="files">
        {made.map((path) => (
          <li key={path}>
            <a href={filePage(path)}>
              <Text>{path}</Text>
            </a>{" "}
            <button type="button" onClick={() => download(path).catch(sayError)}>
              Download
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
