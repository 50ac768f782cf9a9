/** A question or a form above the page. Escape leaves it, and the focus goes back to where it was. */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

import { Refusal } from "./refusal";
import { useAct } from "./use-act";

interface Shown {
  title: string;
  onClose: () => void;
  /** Something is under way: it cannot be left now. */
  isBusy?: boolean;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, isBusy = false, children }: Shown) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const dialog = box.current!;
    dialog.showModal();
    return () => {
      dialog.close();
      queueMicrotask(() => {
        before?.focus();
        // What opened it may be gone, or off.
        if (document.activeElement !== before) document.querySelector<HTMLElement>("main h1")?.focus();
      });
    };
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isBusy) onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface Asked {
  title: string;
  /** What the button says that does it. */
  act: string;
  isDangerous?: boolean;
  /** Where it throws, the dialog stays and says why. */
  onAct: () => Promise<unknown>;
  onClose: () => void;
  children?: ComponentChildren;
}

/** Asks once more before something is done. */
export function Confirm({ title, act, isDangerous = false, onAct, onClose, children }: Asked) {
  const { isBusy, failure, act: begin } = useAct();

  return (
    <Dialog title={title} onClose={onClose} isBusy={isBusy}>
      {children}
      <Refusal error={failure} />
      <p class="acts">
        <button type="button" disabled={isBusy} autofocus onClick={onClose}>
          Leave it
        </button>
        <button type="button" class={isDangerous ? "danger" : "primary"} disabled={isBusy} onClick={() => void begin(() => onAct().then(onClose))}>
          {isBusy ? "Wait …" : act}
        </button>
      </p>
    </Dialog>
  );
}
