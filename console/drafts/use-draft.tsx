/** A state that outlives reloading and leaving, until it is sent or thrown away. */

import { useLayoutEffect, useState } from "preact/hooks";

import { me } from "../sign-in/tokens";
import { drafts } from "./drafts";

export interface Draft<Value> {
  value: Value;
  write: (value: Value) => void;
  /** It was sent, or is not wanted any more. */
  drop: () => void;
  isWritten: boolean;
  /** False: the browser did not take it. */
  isKept: boolean;
}

/**
 * `first`: what stands there before anybody has written. `isNothing`: whether there is nothing that anybody would miss.
 * A component with another place has another `key`.
 */
export function useDraft<Value>(
  place: string,
  first: Value,
  isNothing: (value: Value) => boolean = (value) => JSON.stringify(value) === JSON.stringify(first),
): Draft<Value> {
  const [value, setValue] = useState(() => written<Value>(place) ?? first);
  const [isKept, setKept] = useState(true);
  return {
    value,
    write: (next) => {
      setValue(next);
      if (isNothing(next)) dropDraft(place);
      else if (me.value) setKept(drafts.write(me.value, place, next));
    },
    drop: () => {
      setValue(first);
      dropDraft(place);
    },
    isWritten: !isNothing(value),
    isKept,
  };
}

/** What somebody has written there; undefined: nothing. */
export function written<Value>(place: string): Value | undefined {
  return me.value && (drafts.read(me.value, place) as Value | undefined);
}

/** With what is below it. */
export function dropDraft(place: string): void {
  if (me.value) drafts.drop(me.value, place);
}

/** `hasButton` false: what throws it away stands elsewhere. */
export function Unsent({ of, hasButton = true }: { of: Pick<Draft<unknown>, "drop" | "isWritten" | "isKept">; hasButton?: boolean }) {
  if (!of.isWritten) return null;
  return (
    <p class={of.isKept ? "unsent" : "unsent notice warning"}>
      {of.isKept ? "Not sent yet, kept in this tab." : "Not sent yet and too long to keep: it is lost if you leave this page."}{" "}
      {hasButton && (
        <button type="button" class="quiet" onClick={of.drop}>
          Throw it away
        </button>
      )}
    </p>
  );
}

const open = new Set<object>();

/** As long as there is something that cannot be kept, such as a file, whoever leaves the page is asked:
 *  from the moment that it is shown, so not in an effect that runs after the paint. */
export function useAskBeforeLeaving(is: boolean): void {
  useLayoutEffect(() => {
    if (!is) return;
    const mark = {};
    open.add(mark);
    return () => void open.delete(mark);
  }, [is]);
}

addEventListener("beforeunload", (event) => {
  if (open.size || drafts.isAnyUnkept) event.preventDefault();
});
