/** What waits for a person, one question by its own address, and what was decided. */

import { useEffect } from "preact/hooks";

import { go, path, query, to } from "../../navigation/places";
import { Freshness } from "../../parts/fresh";
import { History } from "./history";
import { OneQuestion } from "./one-question";
import { openQuestions } from "./open-questions";
import { byKeys } from "./keys";
import { Several } from "./several";
import { Waiting } from "./waiting";
import { chosen, results } from "./chosen";

export function Inbox() {
  const questions = openQuestions();
  const [, session, intervention] = path.value;
  const isHistory = query.value.get("show") === "decided";
  const isOne = session !== undefined && intervention !== undefined;
  const first = questions.value.value?.[0];
  useEffect(() => {
    // Beside an empty half of a wide page nobody has to choose first.
    if (!first || isOne || isHistory || path.value.length > 1 || !matchMedia("(min-width: 52.01rem)").matches) return;
    go(to("inbox", first.session_id, first.intervention_id), { replace: true });
  }, [first?.intervention_id, isOne, isHistory]);
  return (
    <div class={isOne ? "inbox one" : "inbox"} onKeyDown={byKeys}>
      <h1 tabIndex={-1}>Inbox</h1>
      <nav class="tabs" aria-label="Inbox">
        <a href={to("inbox")} aria-current={isHistory ? undefined : "page"}>
          Waiting
        </a>
        <a href={`${to("inbox")}?show=decided`} aria-current={isHistory ? "page" : undefined}>
          Decided
        </a>
      </nav>
      <Freshness of={questions} />
      {isHistory ? (
        isOne ? (
          <OneQuestion key={intervention} session={session} intervention={intervention} isHistory />
        ) : (
          <History />
        )
      ) : (
        <div class="columns">
          <section class="list" aria-label="What waits">
            <Waiting open={questions.value.value} selected={intervention} />
          </section>
          <section class="detail" aria-label="The question">
            {chosen.value.size + results.value.size > 0 ? (
              <Several />
            ) : isOne ? (
              <OneQuestion key={intervention} session={session} intervention={intervention} />
            ) : (
              questions.value.value?.length !== 0 && <p class="hint choose">Choose a question to read and decide it.</p>
            )}
          </section>
        </div>
      )}
    </div>
  );
}
