/** One question by its address, such as a notification's link: watched until it is decided, here or elsewhere. */

import { useState } from "preact/hooks";

import { at, get } from "../../api/request";
import type { Intervention } from "../../api/shapes";
import { EVERY } from "../../live/how-often";
import { useLive } from "../../live/watch";
import { to } from "../../navigation/places";
import { Freshness } from "../../parts/fresh";
import { Ago } from "../../parts/time";
import { Text } from "../../parts/words";
import { Who } from "./asker";
import { openQuestions } from "./open-questions";
import { Question } from "./question";

interface Addressed {
  session: string;
  intervention: string;
  /** It was opened from the list of those decided. */
  isHistory?: boolean;
}

export function OneQuestion({ session, intervention, isHistory }: Addressed) {
  const live = useLive<Intervention>(`question.${intervention}`, async (_, signal) => {
    const value = await get<Intervention>(at("/v1/sessions/{}/interventions/{}", session, intervention), {}, signal);
    return { value, again: value.state === "pending" ? EVERY.oneQuestion : Infinity };
  });
  const [isDecidedHere, setDecidedHere] = useState(false);
  const listed = openQuestions().value.value?.find((each) => each.intervention_id === intervention);
  const one = live.value.value ?? listed;
  const next = openQuestions().value.value?.find((each) => each.intervention_id !== intervention);
  return (
    <>
      <p class="back">
        <a href={to("inbox") + (isHistory ? "?show=decided" : "")}>← {isHistory ? "Decided" : "All that waits"}</a>
      </p>
      {(!one || one.state === "pending") && <Freshness of={live} />}
      {!one && !live.failure.value && <p class="hint">Reading…</p>}
      {one && (
        <>
          <p>
            <Who id={session} />
          </p>
          <p class="hint">
            The agent <Text>{one.agent_name}</Text> asked <Ago at={one.created_at} /> in{" "}
            <a href={to("sessions", session)}>this session</a>
          </p>
          <Question
            of={one}
            onDecided={() => {
              setDecidedHere(true);
              live.refresh();
            }}
          />
          {(isDecidedHere || one.state !== "pending") && next && (
            <p>
              <a class="button" href={to("inbox", next.session_id, next.intervention_id)}>
                Next question
              </a>
            </p>
          )}
        </>
      )}
    </>
  );
}
