/** Writes a new version of a prompt. Where somebody was faster nothing written here is lost, and what changed is shown. */

import { useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { Confirm } from "../../parts/dialog";
import { Diff } from "../../parts/diff";
import { Area, Line } from "../../parts/field";
import { isOvertaken, Refusal } from "../../parts/refusal";
import { say } from "../../parts/toasts";
import { useAct } from "../../parts/use-act";
import { Text } from "../../parts/words";
import type { Prompt, PromptInForce } from "./prompts";
import { TryPrompt } from "./try-prompt";

export const placeOf = (name: string): string => `prompt/${name}`;

interface Shown {
  /** What is in force now, which may become another while this is written. */
  current: PromptInForce;
  versions: readonly Prompt[];
  onDone: () => void;
  onOvertaken: () => void;
}

export function EditPrompt({ current, versions, onDone, onOvertaken }: Shown) {
  const draft = useDraft(
    placeOf(current.name),
    { begun: current, content: current.content, comment: "" },
    (one) => one.content === one.begun.content && !one.comment,
  );
  const { begun, content, comment } = draft.value;
  const change = (to: Partial<typeof draft.value>) => draft.write({ ...draft.value, ...to });
  const { isBusy, failure, act } = useAct();
  const [asked, setAsked] = useState<"leave" | "seed" | "force">();
  const isChanged = content !== begun.content;
  const isBehind = current.version !== begun.version;

  async function save(): Promise<void> {
    try {
      const written = await ask<PromptInForce>("PUT", at("/v1/admin/prompts/{}", begun.name), {
        body: { content, comment: comment || null, expected_version: begun.version },
      });
      const { version, warnings } = written.data;
      say(`Version ${version} is in force.${warnings.length ? " It lacks words that Acta reads." : ""}`);
      draft.drop();
      onDone();
    } catch (error) {
      if (isOvertaken(error)) onOvertaken();
      throw error;
    }
  }

  return (
    <>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked("force");
        }}
      >
        {(isBehind || isOvertaken(failure)) && (
          <section class="notice warning" role="alert" aria-label="Changed meanwhile">
            <p>
              {isBehind ? (
                <>
                  <Text>{current.created_by}</Text> has put version {current.version} in force since you began with version{" "}
                  {begun.version}. Your text is still here.
                </>
              ) : (
                "Another version came into force since you began. Your text is still here; the changes are shown in a moment."
              )}
            </p>
            {isBehind && (
              <>
                <Diff before={begun.content} after={current.content} label="What changed meanwhile" />
                <p class="acts">
                  <button type="button" onClick={() => void act(async () => change({ begun: current }))}>
                    Keep my text, based on version {current.version}
                  </button>
                </p>
              </>
            )}
          </section>
        )}
        <Area label="Text" rows={18} isCode value={content} write={(next) => change({ content: next })} />
        <Line label="Why (shown with the version)" value={comment} write={(next) => change({ comment: next })} />
        {!isOvertaken(failure) && <Refusal error={failure} />}
        <Unsent of={draft} hasButton={false} />
        <p class="acts">
          <button type="submit" class="primary" disabled={isBusy || !isChanged || isBehind}>
            {isBusy ? "Wait …" : "Put in force"}
          </button>
          <button type="button" disabled={isBusy} onClick={() => (isChanged ? setAsked("leave") : onDone())}>
            Stop editing
          </button>
          {begun.seed_content !== content && (
            <button type="button" disabled={isBusy} onClick={() => (isChanged ? setAsked("seed") : change({ content: begun.seed_content }))}>
              Begin with the release's own text
            </button>
          )}
        </p>
        {asked && (
          <Confirm
            title={asked === "force" ? "Put this in force?" : "Discard your text?"}
            act={asked === "force" ? "Put in force" : "Throw it away"}
            isDangerous={asked !== "force"}
            onAct={async () => {
              if (asked === "force") await act(save);
              else if (asked === "seed") change({ content: begun.seed_content });
              else {
                draft.drop();
                onDone();
              }
            }}
            onClose={() => setAsked(undefined)}
          >
            {asked === "force" && <Diff before={begun.content} after={content} label="What changes" />}
          </Confirm>
        )}
      </form>
      <TryPrompt current={current} versions={versions} written={isChanged && content.trim() ? content : undefined} />
    </>
  );
}
