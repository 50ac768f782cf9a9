/** One row of the trace, whole: its words, or the input and the observation of a call. */

import { useEffect, useState } from "preact/hooks";

import { Json } from "../../parts/json";
import { Markdown } from "../../parts/markdown";
import { sayError } from "../../parts/toasts";
import { beginning, Quoted, Text, visible } from "../../parts/words";
import type { Conversation, Message } from "./texts";
import type { Row } from "./trace-rows";

export function RowDetail({ row, conversation }: { row: Row; conversation: Conversation }) {
  const { data } = row.event;
  return (
    <div class="detail" role="region" aria-label="Chosen row">
      <p>
        <strong>{row.name}</strong> <time dateTime={row.at}>{new Date(row.at).toLocaleString()}</time> event {row.event.seq}
        {row.event.step_number !== null && <>, step {row.event.step_number}</>}
      </p>
      {row.callId ? (
        <Call row={row} conversation={conversation} />
      ) : typeof data["message_id"] === "string" ? (
        <Said by={row.kind === "message" ? "A person" : "The agent"} data={data} conversation={conversation} />
      ) : (
        <Json value={data} label="The event" />
      )}
    </div>
  );
}

function Said({ by, data, conversation }: { by: string; data: Row["event"]["data"]; conversation: Conversation }) {
  const known = typeof data["content"] === "string" ? data["content"] : undefined;
  const found = useMessage(conversation, known === undefined ? String(data["message_id"]) : "", 0);
  const text = known ?? found?.content;
  return <Quoted by={by}>{text === undefined ? "Reading …" : <Markdown>{text}</Markdown>}</Quoted>;
}

function Call({ row, conversation }: { row: Row; conversation: Conversation }) {
  const { data } = row.event;
  const id = row.callId!;
  const [whole, setWhole] = useState<unknown>();
  const input = data["input"] ?? whole;
  useEffect(() => {
    // A long one is in the conversation alone.
    if (data["input"] === undefined) conversation.inputOf(id).then((found) => setWhole(found ?? null), sayError);
  }, [conversation, id]);
  const result = useMessage(conversation, row.ended ? id : "", row.ended?.seq ?? 0);
  return (
    <>
      <p>
        <code>{visible(String(data["name"]))}</code> <Text>{id}</Text>
      </p>
      <Quoted by="Input, as the model wrote it">{input === undefined ? "Reading …" : <Json value={input} label="Input" />}</Quoted>
      <Quoted by="Observation: what the tool said">
        {!row.ended ? "It has not answered yet." : result ? <Observation result={result} conversation={conversation} /> : "Reading …"}
      </Quoted>
    </>
  );
}

/** Characters shown at once. */
const SHOWN = 20_000;

function Observation({ result, conversation }: { result: Message; conversation: Conversation }) {
  const [shown, setShown] = useState(SHOWN);
  const [whole, setWhole] = useState<{ text: string; next: number | null }>();
  const text = whole?.text ?? result.content;
  const read = async (offset: number) => {
    const part = await conversation.part(result.whole!.text_id, offset);
    setWhole({ text: (offset ? text : "") + part.text, next: part.next_offset });
    setShown((last) => last + part.text.length);
  };
  const next = whole ? whole.next : result.whole ? 0 : null;
  return (
    <>
      {visible(beginning(text, shown))}
      {text.length > shown ? (
        <button type="button" onClick={() => setShown(shown + 10 * SHOWN)}>
          Show more
        </button>
      ) : (
        next !== null && (
          <button type="button" onClick={() => read(next).catch(sayError)}>
            {whole ? "Read on" : `Read all ${result.whole!.bytes.toLocaleString("en-US")} bytes`}
          </button>
        )
      )}
    </>
  );
}

function useMessage(conversation: Conversation, id: string, version: number): Message | undefined {
  const [found, setFound] = useState<Message>();
  useEffect(() => {
    let isWanted = true;
    setFound(undefined);
    if (id) conversation.message(id).then((one) => isWanted && setFound(one), sayError);
    return () => {
      isWanted = false;
    };
  }, [conversation, id, version]);
  return found;
}
