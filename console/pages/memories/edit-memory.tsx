/** Writes a memory, new or changed. Where somebody else was faster, both texts are shown and nothing is lost. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Unsent, useDraft, written } from "../../drafts/use-draft";
import { Dialog } from "../../parts/dialog";
import { isOvertaken, Refusal } from "../../parts/refusal";
import { Choice, Line, Tick } from "../../parts/field";
import { Form } from "../../parts/form";
import { Ago } from "../../parts/time";
import { say } from "../../parts/toasts";
import { useKey } from "../../parts/use-act";
import { Quoted } from "../../parts/words";
import { agents, mayStart, namesOf } from "../sessions/agents";
import { add, type AsRead, read, replace, type Words } from "./memory";
import { KINDS, type Kind, type Memory, tagsOf } from "./words";

export function AddMemory({ onClose }: { onClose: () => void }) {
  const [agentId, setAgentId] = useState("default");
  const keyOf = useKey();
  return (
    <WordsOfMemory
      place={placeOf()}
      title="Add a memory"
      act="Add"
      onClose={onClose}
      onSave={async (words) => {
        const body = { ...words, agent_id: agentId };
        await add(body, keyOf(body));
        say("Added. All sessions of this agent may get it.");
      }}
    >
      <Choice label="Agent" value={agentId} write={setAgentId} of={namesOf((agents.value.value ?? []).filter(mayStart), agentId)} />
    </WordsOfMemory>
  );
}

export function EditMemory({ memory, onClose }: { memory: Memory; onClose: () => void }) {
  const [now, setNow] = useState<AsRead>();
  const [isTheirs, setTheirs] = useState(false);
  const [problem, setProblem] = useState<Error>();
  const [isShared, setShared] = useState(false);
  useEffect(() => {
    read(memory.memory_id)
      .then((found) => {
        const begun = written<Written>(placeOf(memory))?.begun;
        setTheirs(begun !== undefined && begun !== found.memory.updated_at);
        setNow(found);
      })
      .catch(setProblem);
  }, []);

  async function save(words: Words): Promise<void> {
    if (!now) throw new Error("The memory could not be read, so this page cannot show what would be replaced.");
    try {
      await replace(memory.memory_id, now.tag, isShared ? { ...words, shared: true } : words);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      const theirs = await read(memory.memory_id);
      if (theirs.tag === now.tag) throw error; // it is refused for another reason
      setNow(theirs);
      setTheirs(true);
      throw new Error("Somebody changed this memory meanwhile. Yours is not saved yet; the present text is above.");
    }
    say("Saved.");
  }

  if (!now) {
    return (
      <Dialog title="Edit the memory" onClose={onClose}>
        {problem ? <Refusal error={problem} /> : <p class="hint">Reading the memory …</p>}
        <p class="acts">
          <button type="button" onClick={onClose}>
            Stop editing
          </button>
        </p>
      </Dialog>
    );
  }
  return (
    <WordsOfMemory
      place={placeOf(memory)}
      title="Edit the memory"
      act={isTheirs ? "Save mine anyway" : "Save"}
      first={now.memory}
      onClose={onClose}
      onSave={save}
    >
      {isTheirs && (
        <div>
          <Quoted by="What it says now">{now.memory.text}</Quoted>
          <p class="hint">
            Changed <Ago at={now.memory.updated_at} />. Copy what you want from it, or leave it as it is.
          </p>
        </div>
      )}
      {!now.memory.shared && (
        <Tick label="Share it: all sessions of this agent may get it. This cannot be undone." is={isShared} write={setShared} />
      )}
    </WordsOfMemory>
  );
}

/** Where a memory is kept while it is written; without one: a new one. */
export const placeOf = (memory?: Memory): string => `memory/${memory?.memory_id ?? ""}`;

interface Written {
  /** When the memory was changed last as it was read for this; absent: it is a new one. */
  begun?: string;
  text: string;
  kind: Kind;
  tags: string;
}

interface OfForm {
  place: string;
  title: string;
  act: string;
  /** What the fields say at first; later changes of it leave them as they are. */
  first?: Memory;
  onSave: (words: Words) => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}

function WordsOfMemory({ place, title, act, first, onSave, onClose, children }: OfForm) {
  const [begun] = useState<Written>({
    ...(first && { begun: first.updated_at }),
    text: first?.text ?? "",
    kind: first?.kind ?? "fact",
    tags: (first?.tags ?? []).join(", "),
  });
  const draft = useDraft(place, begun, (one) => one.text === begun.text && one.tags === begun.tags && one.kind === begun.kind);
  const { text, kind, tags } = draft.value;
  const change = (to: Partial<Written>) => draft.write({ ...draft.value, ...to });

  async function save(): Promise<void> {
    await onSave({ kind, text, tags: tagsOf(tags) });
    draft.drop();
    onClose();
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <Form act={act} onSend={save} onClose={onClose}>
        {children}
        <label>
          What is remembered
          <textarea
            required
            autofocus
            rows={5}
            maxLength={2_000}
            value={text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
        </label>
        <Choice label="Kind" value={kind} write={(next) => change({ kind: next as Kind })} of={KINDS.map((each) => [each, each])} />
        <Line label="Tags, separated by commas" value={tags} write={(next) => change({ tags: next })} />
        <Unsent of={draft} />
      </Form>
    </Dialog>
  );
}
