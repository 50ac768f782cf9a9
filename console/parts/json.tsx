/** Data as text: exact, indented, and whole. */

import { write } from "../api/exact-json";
import { visible } from "./words";

export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <pre class="json" tabIndex={0} aria-label={label} dir="ltr">
      {visible(write(value, 2), true)}
    </pre>
  );
}
