/** Writes a new version of a prompt. Where somebody was faster nothing written here is lost, and what changed is shown. */

import { useState } from "preact/hooks";

import { ask, at } from "../../api/request";
import { Confirm } from "../../parts/dialog";
import { Diff } from "../../parts/diff";
import { isOvertaken, Refusal } from "../../parts/refusal";
import { say } from "../../parts/toasts";
import { Text } from "../../parts/words";
import type { PromptInForce } from "./prompts";

interface Shown {
  /** What is in force now, which may become another while this is written. */
  current: PromptInForce;
  onDone: () => void;
  onOvertaken: () => void;
}

export function EditPrompt({ current, onDone, onOvertaken }: Shown) {
  const [begun, setBegun] = useState(current);
  const [content, setContent] = useState(current.content);
  const [comment, setComment] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const [asked, setAsked] = useState<"leave" | "seed" | "force">();
  const isChanged = content !== begun.content;
  const isBehind = current.version !== begun.version;

  async function save(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      const written = await ask<PromptInForce>("PUT", at("/v1/admin/prompts/{}", begun.name), {
        body: { content, comment: comment || null, expected_version: begun.version },
      });
      const { version, warnings } = written.data;
      say(`Version ${version} is in force.${warnings.length ? " It lacks words that Acta reads." : ""}`);
      onDone();
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
              "Another version came into force since you began. Your text is still here; what changed is shown in a moment."
            )}
          </p>
          {isBehind && (
            <>
              <Diff before={begun.content} after={current.content} label="What changed meanwhile" />
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
            </>
          )}
        </section>
      )}
      <label>
        Text
        <textarea
          class="long"
          rows={18}
          value={content}
          spellcheck={false}
          onInput={(event) => setContent(event.currentTarget.value)}
        />
      </label>
      <label>
        Why (for those who read the versions)
        <input value={comment} maxLength={500} onInput={(event) => setComment(event.currentTarget.value)} />
      </label>
      {!isOvertaken(failure) && <Refusal error={failure} />}
      <p class="acts">
        <button type="submit" class="primary" disabled={isBusy || !isChanged || isBehind}>
          {isBusy ? "Wait …" : "Put in force"}
        </button>
        <button type="button" disabled={isBusy} onClick={() => (isChanged ? setAsked("leave") : onDone())}>
          Leave it
        </button>
        {begun.seed_content !== content && (
          <button type="button" disabled={isBusy} onClick={() => (isChanged ? setAsked("seed") : setContent(begun.seed_content))}>
            Begin with the release's own text
          </button>
        )}
      </p>
      {asked && (
        <Confirm
          title={asked === "force" ? "Put this in force?" : "Throw your text away?"}
          act={asked === "force" ? "Put in force" : "Throw it away"}
          isDangerous={asked !== "force"}
          onAct={async () => {
            if (asked === "force") await save();
            else if (asked === "seed") setContent(begun.seed_content);
            else onDone();
          }}
          onClose={() => setAsked(undefined)}
        >
          {asked === "force" && <Diff before={begun.content} after={content} label="What changes" />}
        </Confirm>
      )}
    </form>
  );
}
