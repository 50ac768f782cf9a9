/** A field of a form with its label: a line, a text, or one of several values. */

import type { ComponentChildren } from "preact";

interface Of {
  label: ComponentChildren;
  value: string;
  write: (value: string) => void;
}

/** `type`: `password` is shown as dots, and no browser proposes or keeps one. */
export function Line({ label, value, write, type = "text", required = false }: Of & { type?: "text" | "number" | "password"; required?: boolean }) {
  return (
    <label>
      {label}
      <input
        type={type as "text"} // their attributes are the same
        step={type === "number" ? "any" : undefined}
        autocomplete={type === "password" ? "new-password" : "off"}
        required={required}
        value={value}
        onInput={(event) => write(event.currentTarget.value)}
      />
    </label>
  );
}

export function Area({ label, value, write, rows, isCode }: Of & { rows?: number; isCode?: boolean }) {
  return (
    <label>
      {label}
      <textarea
        class={isCode ? "code" : undefined}
        spellcheck={!isCode}
        dir={isCode ? "ltr" : "auto"}
        rows={rows}
        value={value}
        onInput={(event) => write(event.currentTarget.value)}
      />
    </label>
  );
}

/** `of`: each value with what the menu says of it. */
export function Choice({ label, value, write, of }: Of & { of: readonly (readonly [string, string])[] }) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => write(event.currentTarget.value)}>
        {of.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Tick({ label, is, write }: { label: ComponentChildren; is: boolean; write: (is: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={is} onChange={(event) => write(event.currentTarget.checked)} />
      {label}
    </label>
  );
}
