/** What differs between two texts, line by line. Marks and words say it, not colours alone. */

import { useMemo } from "preact/hooks";

import { changes, linesOf } from "./changes";
import { visible } from "./words";

/** Of longer texts nobody would read it, and to find it would freeze the page. */
const MOST = 200_000;
const AROUND = 3;

export interface Part {
  kind: "same" | "added" | "removed" | "skipped";
  lines: string[];
}

/** Lines that are the same and far from any change are skipped. Undefined: too long to compare. */
export function differences(before: string, after: string): Part[] | undefined {
  if (before.length + after.length > MOST) return undefined;
  const found = changes(linesOf(before), linesOf(after));
  return found.flatMap((each, index): Part[] => {
    const { lines } = each;
    if (each.kind !== "same") return [each];
    const first = index === 0 ? 0 : AROUND;
    const last = index === found.length - 1 ? 0 : AROUND;
    if (lines.length <= first + last + 1) return [{ kind: "same", lines }];
    const skipped = lines.slice(first, lines.length - last);
    const parts: Part[] = [
      { kind: "same", lines: lines.slice(0, first) },
      { kind: "skipped", lines: skipped },
      { kind: "same", lines: last ? lines.slice(-last) : [] },
    ];
    return parts.filter((part) => part.lines.length > 0);
  });
}

const MARKS = { same: " ", added: "+", removed: "−", skipped: "⋯" };
const SAID = { same: "", added: "Added: ", removed: "Removed: ", skipped: "" };

export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const parts = useMemo(() => differences(before, after), [before, after]);
  if (!parts) return <p class="hint">The texts are too long to compare here.</p>;
  if (!parts.some((part) => part.kind === "added" || part.kind === "removed")) return <p class="hint">Nothing differs.</p>;
  return (
    <div class="diff" role="group" aria-label={label} tabIndex={0} dir="ltr">
      {parts.map((part, index) =>
        part.kind === "skipped" ? (
          <div key={index} class="line skipped">
            {MARKS.skipped} {part.lines.length} lines are the same
          </div>
        ) : (
          part.lines.map((line, number) => (
            <div key={`${index}.${number}`} class={`line ${part.kind}`}>
              <span class="mark" aria-hidden="true">
                {MARKS[part.kind]}
              </span>
              {SAID[part.kind] && <span class="unseen">{SAID[part.kind]}</span>}
              <bdi>{visible(line) || " "}</bdi>
            </div>
          ))
        ),
      )}
    </div>
  );
}
