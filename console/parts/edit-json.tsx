/** Edits a definition as JSON. Where somebody was faster nothing written here is lost, and what changed is shown. */

import { parseAnswer, write } from "../api/exact-json";
import { dropDraft, Unsent, useDraft } from "../drafts/use-draft";
import { Diff } from "./diff";
import { Area } from "./field";
import { Form } from "./form";
import { isOvertaken } from "./refusal";

interface Shown {
  /** Where what is written is kept. */
  place: string;
  label: string;
  /** The definition as it is now, which may become another while this is written. */
  current: { version: number; fields: Record<string, unknown> };
  act: string;
  /** Throws Refused. `version`: what the edit began with. */
  onSave: (fields: Record<string, unknown>, version: number) => Promise<void>;
  onOvertaken: () => void;
  onClose: () => void;
}

export function EditJson({ place, label, current, act, onSave, onOvertaken, onClose }: Shown) {
  const draft = useDraft(place, { begun: current, text: write(current.fields, 2) }, ({ begun, text }) => text === write(begun.fields, 2));
  const { begun, text } = draft.value;
  const before = write(begun.fields, 2);
  const isBehind = current.version !== begun.version;

  async function save(): Promise<void> {
    try {
      await onSave(fieldsOf(text), begun.version);
      dropDraft(place); // where it was shown something else may be by now
    } catch (error) {
      if (isOvertaken(error)) onOvertaken();
      throw error;
    }
  }

  return (
    <Form
      key={begun.version}
      act={act}
      onSend={save}
      isReady={!isBehind}
      close={text === before ? "Close" : "Throw my text away"}
      onClose={() => {
        draft.drop();
        onClose();
      }}
    >
      {isBehind && (
        <section class="notice warning" role="alert" aria-label="Changed meanwhile">
          <p>
            Version {current.version} was made since you began with version {begun.version}. Your text is still here. This changed:
          </p>
          <Diff before={before} after={write(current.fields, 2)} label="What changed meanwhile" />
          <p class="acts">
            <button
              type="button"
              onClick={() => draft.write({ begun: current, text })}
            >
              Keep my text, based on version {current.version}
            </button>
          </p>
        </section>
      )}
      <Area label={label} rows={18} isCode value={text} write={(next) => draft.write({ begun, text: next })} />
      {text !== before && (
        <details>
          <summary>What you have changed</summary>
          <Diff before={before} after={text} label="What you have changed" />
        </details>
      )}
      <Unsent of={draft} hasButton={false} />
    </Form>
  );
}

/** Throws Error where it is no JSON object. */
export function fieldsOf(text: string): Record<string, unknown> {
  let found: unknown;
  try {
    found = parseAnswer(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`);
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw new Error("This is not a JSON object.");
  return found as Record<string, unknown>;
}
