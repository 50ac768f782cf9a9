/** Several approvals at once: what each would run, one decision for all, and what became of each. */

import { useState } from "preact/hooks";

import { useAskBeforeLeaving } from "../../drafts/use-draft";
import { Area } from "../../parts/field";
import { Call, isWhole } from "./call";
import { choose, chooseNone, chosen, comment, type Result, results } from "./chosen";
import { decide } from "./deciding";
import { Decision } from "./decision";
import { visible } from "../../parts/words";
import { subject } from "./wording";

/** So many requests are under way at a time. */
const AT_ONCE = 4;

export function Several() {
  const [isBusy, setBusy] = useState(false);
  const open = [...chosen.value.values()];
  // Those that are chosen are not kept, so what is said about them is not either.
  useAskBeforeLeaving(comment.value !== "");
  const all = new Map([...[...results.value].map(([id, [one]]) => [id, one] as const), ...chosen.value]);

  async function decideAll(option: string): Promise<void> {
    setBusy(true);
    const waiting = [...open];
    const work = async () => {
      for (let one = waiting.shift(); one; one = waiting.shift()) {
        const { intervention_id: id } = one;
        const result: Result = await decide(one, { option, comment: comment.value }).catch((failure: Error) => ({ failure }));
        results.value = new Map(results.value).set(id, [one, result]);
        if (!("failure" in result)) choose(one, false);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setBusy(false);
    if (chosen.value.size === 0) comment.value = "";
  }

  return (
    <article class="question several" aria-label="Several approvals">
      <h2 class="asked">{open.length === 1 ? "One approval is chosen" : open.length ? `${open.length} approvals are chosen` : "All of them are decided."}</h2>
      <ol class="calls">
        {[...all].map(([id, each]) => {
          const result = results.value.get(id)?.[1];
          return (
            <li key={id}>
              {each.tool_call && <Call of={result && "decided" in result ? result.decided : each} call={each.tool_call} />}
              <What of={result} />
            </li>
          );
        })}
      </ol>
      {open.length > 0 && (
        <section class="deciding" aria-label="Your decision">
          <div class="comment">
            <Area
              label="Comment for all (may stay empty; agents read it when you reject)"
              rows={2}
              value={comment.value}
              write={(text) => (comment.value = text)}
            />
          </div>
          <p>What you approve runs exactly as shown here, once.</p>
        </section>
      )}
      <div class="deciders">
        {open.length > 0 && (
          <>
            <p class="hint">{visible(open.map((one) => subject(one).join(" ")).join(" · "))}</p>
            <button type="button" class="primary" disabled={isBusy || !open.every(isWhole)} onClick={() => void decideAll("approve")}>
              Approve {open.length}
            </button>
            <button type="button" class="danger" disabled={isBusy} onClick={() => void decideAll("reject")}>
              Reject {open.length}
            </button>
          </>
        )}
        <button type="button" disabled={isBusy} onClick={chooseNone}>
          {open.length > 0 ? "Choose none" : "Done"}
        </button>
      </div>
    </article>
  );
}

function What({ of }: { of: Result | undefined }) {
  if (!of) return null;
  if ("failure" in of) {
    return (
      <p class="notice bad" role="alert">
        Not decided: {visible(of.failure.message)}
      </p>
    );
  }
  return <Decision of={of.decided} isNew isLate={!of.isOurs} />;
}
