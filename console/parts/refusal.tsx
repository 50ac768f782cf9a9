/** Why the service did not take what was written, with what it says of each field. */

import { Refused } from "../api/refused";
import { visible } from "./words";

export function Refusal({ error }: { error: unknown }) {
  if (error === undefined) return null;
  const details = error instanceof Refused ? Object.entries(error.details) : [];
  return (
    <div class="notice bad" role="alert">
      {error instanceof Error ? visible(error.message) : String(error)}
      {details.length > 0 && (
        <ul>
          {details.map(([field, problems]) => (
            <li key={field}>
              <code>{visible(field)}</code>: {visible([problems].flat().join(" "))}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Somebody else was faster: what was written here still stands. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof Refused && (error.status === 409 || error.status === 412);
}
