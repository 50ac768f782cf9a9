/** Pages of a listing, each with an address of its own: `after` is the cursor of what stands before it. */

import { narrowed, query } from "../navigation/places";

/** The cursor of the page that the address names; undefined: the first one. */
export function cursor(): string | undefined {
  return query.value.get("after") ?? undefined;
}

export function Pager({ next }: { next: string | null | undefined }) {
  if (!next && !cursor()) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      {cursor() && (
        <a class="button" href={narrowed({ after: "" })}>
          First page
        </a>
      )}
      {next && (
        <a class="button" href={narrowed({ after: next })}>
          Next page
        </a>
      )}
    </nav>
  );
}
