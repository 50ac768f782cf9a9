/** A form that is sent once at a time. Where it is not taken it stays, and says why, by field. */

import type { ComponentChildren } from "preact";

import { Refusal } from "./refusal";
import { useAct } from "./use-act";

interface Shown {
  /** What the button says that sends it. */
  act: string;
  /** Where it throws, nothing is lost. */
  onSend: () => Promise<void>;
  onClose?: () => void;
  close?: string;
  isReady?: boolean;
  children: ComponentChildren;
}

export function Form({ act, onSend, onClose, close = "Leave it", isReady = true, children }: Shown) {
  const { isBusy, failure, act: begin } = useAct();
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void begin(onSend);
      }}
    >
      {children}
      <Refusal error={failure} />
      <p class="acts">
        <button type="submit" class="primary" disabled={isBusy || !isReady}>
          {isBusy ? "Wait …" : act}
        </button>
        {onClose && (
          <button type="button" disabled={isBusy} onClick={onClose}>
            {close}
          </button>
        )}
      </p>
    </form>
  );
}
