/** What turns one list of lines into another, with as few changes as there can be. */

export interface Change {
  kind: "same" | "added" | "removed";
  lines: string[];
}

/** Pairs of lines that are compared. Where there are more, all that lies between what is the same at both ends is changed. */
const MOST_PAIRS = 4_000_000;

export function changes(before: readonly string[], after: readonly string[]): Change[] {
  const found: Change[] = [];
  const add = (kind: Change["kind"], line: string) => {
    const newest = found.at(-1);
    if (newest?.kind === kind) newest.lines.push(line);
    else found.push({ kind, lines: [line] });
  };
  let first = 0;
  let [end, last] = [before.length, after.length];
  while (first < end && first < last && before[first] === after[first]) first += 1;
  while (end > first && last > first && before[end - 1] === after[last - 1]) [end, last] = [end - 1, last - 1];
  const isCompared = (end - first) * (last - first) <= MOST_PAIRS;
  const width = last - first + 1;
  /** Of what follows a pair of lines: how many are the same at most. */
  const same = new Uint16Array(isCompared ? (end - first + 1) * width : 0);
  const place = (x: number, y: number) => (x - first) * width + y - first;
  if (isCompared)
    for (let x = end - 1; x >= first; x -= 1)
      for (let y = last - 1; y >= first; y -= 1)
        same[place(x, y)] =
          before[x] === after[y] ? same[place(x + 1, y + 1)]! + 1 : Math.max(same[place(x + 1, y)]!, same[place(x, y + 1)]!);
  before.slice(0, first).forEach((line) => add("same", line));
  for (let [x, y] = [first, first]; x < end || y < last; ) {
    if (isCompared && x < end && y < last && before[x] === after[y]) [x, y] = (add("same", before[x]!), [x + 1, y + 1]);
    else if (y >= last || (x < end && (!isCompared || same[place(x + 1, y)]! >= same[place(x, y + 1)]!))) add("removed", before[x++]!);
    else add("added", after[y++]!);
  }
  before.slice(end).forEach((line) => add("same", line));
  return found;
}

/** A text as its lines. */
export function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}
