/** Said where files own a definition, which apply anew what they say. */

import type { Shapes } from "../api/shapes";
import { Text } from "./words";

export function Owned({ by }: { by: Shapes["AppliedFrom"] | null | undefined }) {
  return by ? (
    <p class="notice warning">
      The files of the set <Text>{by.set}</Text> own this. The next `acta apply` shows a change that you make here.
    </p>
  ) : null;
}
