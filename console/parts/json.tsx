/** Data as text: exact, indented, and whole. Where something in it cannot be seen, a line says how it is shown. */

import { write } from "../api/exact-json";
import { visible } from "./words";

export function Json({ value, label }: { value: unknown; label: string }) {
  const text = write(value, 2);
  const shown = visible(text, true);
  return (
    <>
      <pre class="json" tabIndex={0} aria-label={label} dir="ltr">
        {shown}
      </pre>
      {shown !== text && <p class="hint">Characters that cannot be seen are shown by their number, like ⟨U+00A0⟩.</p>}
    </>
  );
}
