/** Whether what is shown is current: nothing while it is, and since when it is not. */

import type { Live } from "../live/watch";
import { Ago } from "./time";

export function Freshness({ of }: { of: Live<unknown> }) {
  const error = of.failure.value;
  if (!error) return null;
  return (
    <p class="notice warning" role="status">
      {error.message}{" "}
      {of.at.value !== undefined && (
        <>
          What you see is from <Ago at={of.at.value} />.{" "}
        </>
      )}
      <button type="button" onClick={of.refresh}>
        Try now
      </button>
    </p>
  );
}
