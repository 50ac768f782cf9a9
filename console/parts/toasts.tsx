/** Short words on what was just done, or why it was not. Screen readers hear them. */

import { signal } from "@preact/signals";

import { Refused } from "../api/refused";
import { visible } from "./words";

interface Toast {
  id: number;
  text: string;
  isError: boolean;
}

const toasts = signal<Toast[]>([]);
const SHOWN_MS = 6_000;
let last = 0;

export function say(text: string): void {
  show(text, false);
}

/** Stays until it is read. What the API says of single fields stands in the place of its sentence about all. */
export function sayError(error: unknown): void {
  const fields = error instanceof Refused ? Object.entries(error.details) : [];
  const of = fields.map(([field, said]) => `${field}: ${said.join(" ")}`).join(" ");
  show(of || (error instanceof Error ? error.message : String(error)), true);
}

function show(text: string, isError: boolean): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, isError }];
  if (!isError) setTimeout(() => close(id), SHOWN_MS);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isError }) => (
        <div key={id} class={isError ? "toast error" : "toast"}>
          <span>{visible(text)}</span>
          <button type="button" class="quiet" aria-label="Close" onClick={() => close(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
