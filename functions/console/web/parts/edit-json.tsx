/** Edits a definition as JSON. Where somebody was faster nothing written here is lost, and what changed is shown. */

import { useState } from "preact/hooks";

import { Diff } from "./diff";
import { isOvertaken, Refusal } from "./refusal";

interface Shown {
  label: string;
  /** The definition as it is now, which may become another while this is written. */
  current: { version: number; fields: Record<string, unknown> };
  act: string;
  /** Throws Refused. `version`: what the edit began with. */
  onSave: (fields: Record<string, unknown>, version: number) => Promise<void>;
  onOvertaken: () => void;
  onClose: () => void;
}

export function EditJson({ label, current, act, onSave, onOvertaken, onClose }: Shown) {
  const [begun, setBegun] = useState(current);
  const before = written(begun.fields);
  const [text, setText] = useState(before);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const isBehind = current.version !== begun.version;

  async function save(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      await onSave(fieldsOf(text), begun.version);
    } catch (error) {
      setFailure(error);
      setBusy(false);
      if (isOvertaken(error)) onOvertaken();
    }
  }

  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {isBehind && (
        <section class="notice warning" role="alert" aria-label="Changed meanwhile">
          <p>
            Version {current.version} was made since you began with version {begun.version}. Your text is still here. This changed:
          </p>
          <Diff before={before} after={written(current.fields)} label="What changed meanwhile" />
          <p class="acts">
            <button
              type="button"
              onClick={() => {
                setBegun(current);
                setFailure(undefined);
              }}
            >
              Go on with my text, on top of version {current.version}
            </button>
          </p>
        </section>
      )}
      <label>
        {label}
        <textarea class="long" rows={18} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {!isBehind && <Refusal error={failure} />}
      {text !== before && (
        <details>
          <summary>What you have changed</summary>
          <Diff before={before} after={text} label="What you have changed" />
        </details>
      )}
      <p class="acts">
        <button type="submit" class="primary" disabled={isBusy || isBehind}>
          {isBusy ? "Wait …" : act}
        </button>
        <button type="button" disabled={isBusy} onClick={onClose}>
          {text === before ? "Close" : "Throw my text away"}
        </button>
      </p>
    </form>
  );
}

function written(fields: Record<string, unknown>): string {
  return JSON.stringify(fields, null, 2);
}

/** Throws Error where it is no JSON object. */
export function fieldsOf(text: string): Record<string, unknown> {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`);
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw new Error("This is not a JSON object.");
  return found as Record<string, unknown>;
}
