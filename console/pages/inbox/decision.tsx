/** What was decided, by whom, and when. */

import { parse } from "../../api/exact-json";
import type { Intervention } from "../../api/shapes";
import { Ago } from "../../parts/time";
import { to } from "../../navigation/places";
import { Long } from "../../parts/long";
import { Text } from "../../parts/words";
import { me } from "../../sign-in/tokens";
import { Fields, type Input } from "./call";
import { byDefault, done, way } from "./wording";

const STOPS = ["reject", "cancel"];

/** `isNew`: made just now. `isLate`: this person decided too, after it. */
export function Decision({ of, isNew, isLate }: { of: Intervention; isNew?: boolean; isLate?: boolean }) {
  const given = of.input_text ? (parse(of.input_text) as Input) : undefined;
  const isYes = of.state === "resolved" && !STOPS.includes(of.resolution ?? "");
  return (
    <div class={isYes ? "notice decision yes" : "notice decision"} role="status" aria-label="The decision">
      {isLate && <p>Somebody decided before you. Your decision does not count.</p>}
      <p class="outcome">
        <Outcome of={of} /> {of.resolved_at && <Ago at={of.resolved_at} />}
      </p>
      {of.comment && <Long by="Comment">{of.comment}</Long>}
      {of.state === "resolved" && given && (
        <details>
          <summary>{of.amended ? "The input that was used instead" : "What was given with the decision"}</summary>
          <Fields of={(of.amended && (given["input"] as Input)) || given} />
        </details>
      )}
      <p>
        {isNew && !["cancel", "finish"].includes(of.resolution ?? "") && "The agent was told and goes on. "}
        <a href={to("sessions", of.session_id)}>See the session</a>
      </p>
    </div>
  );
}

export function Outcome({ of }: { of: Intervention }) {
  if (of.state === "withdrawn") return <>The session ended before anybody decided.</>;
  if (of.state === "expired") return <>Nobody decided in time: {byDefault({ ...of, default_action: of.resolution ?? "" })}.</>;
  const by = of.resolved_by;
  return (
    <>
      {by === null ? "Somebody" : by === me.value?.user ? <>You</> : <Text>{by}</Text>} {done(of.resolution)}
      {way(of.via)}
    </>
  );
}
