/** Somebody else's text of any length, in a frame. Of a long one its beginning is shown, until somebody asks for all. */

import { useState } from "preact/hooks";

import { beginning, Quoted, visible } from "./words";

const SHOWN_AT_FIRST = 2_000;

export function Long({ by, children, isExact }: { by: string; children: string; isExact?: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && children.length > SHOWN_AT_FIRST;
  return (
    <div class="long">
      <Quoted by={by}>{visible(isCut ? beginning(children, SHOWN_AT_FIRST) : children, isExact)}</Quoted>
      {isCut && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {children.length.toLocaleString()} characters
        </button>
      )}
    </div>
  );
}
