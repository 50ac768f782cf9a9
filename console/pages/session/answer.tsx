/** What came of the run: its answer as Markdown or as data, and the files that it made. */

import { useState } from "preact/hooks";

import { at, get } from "../../api/request";
import type { Event, Session } from "../../api/shapes";
import { Json } from "../../parts/json";
import { Markdown } from "../../parts/markdown";
import { sayError } from "../../parts/toasts";
import { Quoted, Text } from "../../parts/words";
import { filePage } from "../files/listing";
import { download } from "../files/saving";
import { filesOf } from "./feed";

/** Characters of an answer in the session; a longer one is in the trace. */
const SHORT = 4_000;

export function Answer({ session }: { session: Session }) {
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
      {whole === undefined && shown.length >= SHORT && result.data === null && (
        <button type="button" onClick={() => read().catch(sayError)}>
          Show the whole answer
        </button>
      )}
    </section>
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
