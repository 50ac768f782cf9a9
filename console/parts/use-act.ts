/** Something that is done once at a time. Why it failed stands until the next attempt. */

import { useRef, useState } from "preact/hooks";

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

/** The key of a request by its body: the same body again is the same act, another one is another. */
export function useKey(): (body: unknown) => string {
  const last = useRef({ said: "", key: "" });
  return (body) => {
    const said = JSON.stringify(body);
    if (last.current.said !== said) last.current = { said, key: crypto.randomUUID() };
    return last.current.key;
  };
}
