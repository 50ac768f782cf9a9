/** A call that is decided on: the tool, its whole input, and what it would delete or replace. */

import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { parse, write } from "../../api/exact-json";
import { at, get } from "../../api/request";
import type { Intervention, Shapes } from "../../api/shapes";
import { Json } from "../../parts/json";
import { Long } from "../../parts/long";
import { Text, visible } from "../../parts/words";
import { Preview } from "./preview";

type Pending = Shapes["PendingCall"];
/** Its numbers are `NumberLiteral`s: what is shown, edited and sent has the digits of what runs. */
export type Input = Record<string, unknown>;

interface Read {
  input?: Input;
  failure?: Error;
}

/** By question and call. What cannot be read is tried again when it is shown again. */
const reads = signal<Record<string, Read>>({});

/** The whole input: what is there already, or what is read where that was shortened. */
export function useWhole(one: Intervention, call: Pending | null, callId?: string): Read {
  const key = `${one.intervention_id}.${callId ?? ""}`;
  useEffect(() => {
    const before = reads.value[key];
    if (!call?.shortened || (before && !before.failure)) return;
    const setRead = (read: Read) => (reads.value = { ...reads.value, [key]: read });
    setRead({});
    const path = at("/v1/sessions/{}/interventions/{}/input", one.session_id, one.intervention_id);
    get<Shapes["CallInput"]>(path, { call_id: callId }).then(
      ({ input_text }) => setRead({ input: parse(input_text) as Input }),
      (failure: Error) => setRead({ failure }),
    );
  }, [key, call?.shortened]);
  const text = call?.shortened ? null : (call?.input_text ?? null);
  const here = useMemo(() => (text === null ? undefined : (parse(text) as Input)), [text]);
  return here ? { input: here } : (reads.value[key] ?? {});
}

/** Whether all of what is approved is here to be read. */
export function isWhole({ tool_call: call, intervention_id: id }: Intervention): boolean {
  return !call?.shortened || reads.value[`${id}.`]?.input !== undefined;
}

interface Shown {
  of: Intervention;
  call: Pending;
  callId?: string;
  /** Another input is written, which has a preview of its own. */
  isEdited?: boolean;
}

export function Call({ of, call, callId, isEdited }: Shown) {
  const { input, failure } = useWhole(of, call, callId);
  return (
    <div class="call-asked" role="group" aria-label={`Call of ${call.name}`}>
      <p class="tool">
        <span class="what">Tool</span> <code>{visible(call.name)}</code>
      </p>
      {failure && (
        <p class="notice bad" role="alert">
          The whole input could not be read: {failure.message} Only its beginning is shown here.
        </p>
      )}
      {!input && !failure && <p class="hint">The whole input is being read…</p>}
      {input && !isEdited && of.state === "pending" && <Preview call={call} input={input} of={of} />}
      <Fields of={input ?? call.input} />
    </div>
  );
}

/** Texts stand as they are, line by line; all else as JSON. Where something cannot be seen, a line says how it is shown. */
export function Fields({ of }: { of: Input }) {
  const fields = Object.entries(of);
  const texts = fields.flat().map((each) => visible(typeof each === "string" ? each : write(each), true));
  return (
    <>
      {fields.length === 0 && <p class="hint">Its input is empty.</p>}
      {fields.length > 0 && (
        <dl>
          {fields.map(([name, value]) => (
            <Field key={name} name={name} value={value} />
          ))}
        </dl>
      )}
      {texts.some((text) => text.includes("⟨U+")) && <p class="hint">Characters that cannot be seen are shown by their number, like ⟨U+00A0⟩.</p>}
      <details class="exact">
        <summary>The input as JSON</summary>
        <Json value={of} label="The input as JSON" />
      </details>
    </>
  );
}

function Field({ name, value }: { name: string; value: unknown }) {
  const text = typeof value === "string" ? value : write(value, 2);
  const isShort = text.length <= 200 && !text.includes("\n");
  return (
    <>
      <dt>
        <Text>{name}</Text>
      </dt>
      <dd>{isShort ? <code class="value"><bdi>{visible(text, true)}</bdi></code> : <Long by="Text of the input" isExact>{text}</Long>}</dd>
    </>
  );
}
