/** Data as text: exact, indented, and whole. */

import { visible } from "./words";

export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <pre class="json" tabIndex={0} aria-label={label} dir="ltr">
      {visible(JSON.stringify(value, null, 2) ?? "null")}
    </pre>
  );
}
