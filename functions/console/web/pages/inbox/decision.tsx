/** What was decided, by whom, and when. */

import type { Intervention } from "../../api/shapes";
import { Ago } from "../../parts/time";
import { Long } from "../../parts/long";
import { Text } from "../../parts/words";
import { me } from "../../sign-in/tokens";
import { Fields } from "./call";
import { byDefault, done } from "./wording";

/** `isLate`: this person decided too, after it. */
export function Decision({ of, isLate = false }: { of: Intervention; isLate?: boolean }) {
  return (
    <div class="decision" role="status" aria-label="The decision">
      {isLate && <p class="notice warning">It was decided before you. Your decision does not count.</p>}
      <p class="outcome">
        <Outcome of={of} /> {of.resolved_at && <Ago at={of.resolved_at} />}
      </p>
      {of.comment && <Long by="Comment">{of.comment}</Long>}
      {of.state === "resolved" && of.input && (
        <details>
          <summary>{of.amended ? "The input that ran instead" : "What was given with it"}</summary>
          <Fields of={(of.amended && (of.input["input"] as Record<string, unknown>)) || of.input} />
        </details>
      )}
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
    </>
  );
}
