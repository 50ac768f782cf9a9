/** How a page begins: the way back, what it shows, and what can be done with it. */

import type { ComponentChildren } from "preact";

import { to } from "../navigation/places";
import { visible } from "./words";

interface Shown {
  title: string;
  /** The list that it is one of. */
  back?: readonly [page: string, title: string];
  children?: ComponentChildren;
}

export function Heading({ title, back, children }: Shown) {
  return (
    <>
      {back && (
        <p>
          <a href={to(back[0])}>{back[1]}</a>
        </p>
      )}
      <div class="heading">
        <h1 tabIndex={-1}>{visible(title)}</h1>
        {children}
      </div>
    </>
  );
}

/** What people most likely came for. */
export function MainAct({ act, onClick }: { act: string; onClick: () => void }) {
  return (
    <button type="button" class="primary" onClick={onClick}>
      {act}
    </button>
  );
}

/** `onDelete` undefined: it cannot be deleted. */
export function EditOrDelete({ onEdit, onDelete }: { onEdit: () => void; onDelete: (() => void) | undefined }) {
  return (
    <span class="acts">
      <MainAct act="Edit" onClick={onEdit} />
      {onDelete && (
        <button type="button" class="danger" onClick={onDelete}>
          Delete
        </button>
      )}
    </span>
  );
}
