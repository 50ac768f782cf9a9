/** What waits for a person. */

import { to } from "../../navigation/places";
import { Freshness } from "../../parts/fresh";
import { Ago, Until } from "../../parts/time";
import { Text } from "../../parts/words";
import { openQuestions } from "./open-questions";

export function Inbox() {
  const questions = openQuestions();
  const open = questions.value.value;
  return (
    <>
      <h1 tabIndex={-1}>Inbox</h1>
      <Freshness of={questions} />
      {open?.length === 0 && <p class="empty">Nothing waits for a person.</p>}
      <ul class="cards">
        {open?.map((each) => (
          <li key={each.intervention_id} class="card">
            <a href={to("sessions", each.session_id)}>{each.type}</a> <Ago at={each.created_at} />
            {each.timeout_at && <Until at={each.timeout_at} />}
            {each.context.question && <Text>{each.context.question}</Text>}
          </li>
        ))}
      </ul>
    </>
  );
}
