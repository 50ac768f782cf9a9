/** Several approvals at once: what each would run, one decision for all, and what became of each. */

import { useState } from "preact/hooks";

import type { Intervention } from "../../api/shapes";
import { Call } from "./call";
import { chooseNone, chosen } from "./chosen";
import { decide } from "./deciding";
import { Decision } from "./decision";

type Result = { decided: Intervention; isOurs: boolean } | { failure: Error };

/** So many requests are under way at a time. */
const AT_ONCE = 4;

export function Several() {
  const [comment, setComment] = useState("");
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const [isBusy, setBusy] = useState(false);
  const all = [...chosen.value.values()];
  const open = all.filter((each) => !results.has(each.intervention_id) || "failure" in results.get(each.intervention_id)!);

  async function decideAll(option: string): Promise<void> {
    setBusy(true);
    const waiting = [...open];
    const work = async () => {
      for (let one = waiting.shift(); one; one = waiting.shift()) {
        const { intervention_id: id } = one;
        const result: Result = await decide(one, { option, comment }).catch((failure: Error) => ({ failure }));
        setResults((before) => new Map(before).set(id, result));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setBusy(false);
  }

  return (
    <article class="question several" aria-label="Several approvals">
      <h2 class="asked">{all.length === 1 ? "One approval is chosen" : `${all.length} approvals are chosen`}</h2>
      <ol class="calls">
        {all.map((each) => (
          <li key={each.intervention_id}>
            {each.tool_call && <Call of={each} call={each.tool_call} />}
            <What of={results.get(each.intervention_id)} />
          </li>
        ))}
      </ol>
      <section class="deciding" aria-label="Your decision">
        {open.length > 0 ? (
          <>
            <label class="comment">
              Comment for all (may stay empty; agents read it when you reject)
              <textarea rows={2} dir="auto" maxLength={2000} value={comment} onInput={(event) => setComment(event.currentTarget.value)} />
            </label>
            <ul class="options">
              <li>
                <button type="button" class="primary" disabled={isBusy} onClick={() => void decideAll("approve")}>
                  Approve {open.length}
                </button>
                <p>Runs exactly what is shown here, each once.</p>
              </li>
              <li>
                <button type="button" class="danger" disabled={isBusy} onClick={() => void decideAll("reject")}>
                  Reject {open.length}
                </button>
                <p>None of them runs. The agents are told so, with your comment.</p>
              </li>
            </ul>
          </>
        ) : (
          <p role="status">All of them are decided.</p>
        )}
        <button type="button" disabled={isBusy} onClick={chooseNone}>
          {open.length > 0 ? "Choose none" : "Done"}
        </button>
      </section>
    </article>
  );
}

function What({ of }: { of: Result | undefined }) {
  if (!of) return null;
  if ("failure" in of) {
    return (
      <p class="notice bad" role="alert">
        Not decided: {of.failure.message}
      </p>
    );
  }
  return <Decision of={of.decided} isLate={!of.isOurs} />;
}
