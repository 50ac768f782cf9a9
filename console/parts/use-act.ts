/** Something that is done once at a time. Why it failed stands until the next attempt. */

import { useState } from "preact/hooks";

interface Acting {
  isBusy: boolean;
  /** For `Refusal`. */
  failure: unknown;
  act: (work: () => Promise<unknown>) => Promise<void>;
}

export function useAct(): Acting {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  return {
    isBusy,
    failure,
    act: async (work) => {
      setBusy(true);
      setFailure(undefined);
      await work().catch(setFailure);
      setBusy(false);
    },
  };
}
