/** A warning that files own a definition: the next `acta apply` of these files may undo a change that is made here. */

import type { Shapes } from "../api/shapes";
import { Text } from "./words";

export function Owned({ by }: { by: Shapes["AppliedFrom"] | null | undefined }) {
  return by ? (
    <p class="notice warning">
      The files of the set <Text>{by.set}</Text> own this. The next `acta apply` shows a change that you make here.
    </p>
  ) : null;
}
