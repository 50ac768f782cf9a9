/** Whether what is shown is current: nothing while it is, and since when it is not. */

import type { Live } from "../live/watch";
import { isOver } from "../sign-in/tokens";
import { Ago, now } from "./time";

/** Everything is read each minute or more often, in a minute at most: what is older is of a machine that was asleep. */
const OLD_MS = 130_000;

const isOld = ({ at }: Live<unknown>): boolean => now.value - (at.value ?? now.value) > OLD_MS;

export function IsLive({ of }: { of: Live<unknown> }) {
  return of.failure.value || isOld(of) ? null : <span class="live">live</span>;
}

/** `reading`: what is said until it was read for the first time. */
export function Freshness({ of, reading }: { of: Live<unknown>; reading?: string }) {
  const error = of.failure.value;
  if (reading && !error && of.value.value === undefined) return <p class="hint">{reading}</p>;
  if (!error && !isOld(of)) return null;
  return (
    <p class="notice warning" role="status">
      {error?.message}{" "}
      {of.at.value !== undefined && (
        <>
          What you see is from <Ago at={of.at.value} />.{" "}
        </>
      )}
      {!isOver.value && (
        <button type="button" onClick={of.refresh}>
          Try now
        </button>
      )}
    </p>
  );
}
