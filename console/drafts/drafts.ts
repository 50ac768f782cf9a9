/**
 * What somebody has written and not sent. It is kept for that person and place: in memory, so that going through the page
 * loses nothing, and in `sessionStorage`, so that reloading it does not either. It ends with the tab or the sign-in.
 */

import { parseAnswer, write } from "../api/exact-json";
import { nameOf, type Person } from "../sign-in/person";

const PREFIX = "acta.draft.";

export class Drafts {
  private readonly written = new Map<string, string>();
  private readonly unkept = new Set<string>();

  constructor(private readonly storage: () => Storage) {}

  /** Undefined: nothing is written there. */
  read(owner: Person, place: string): unknown {
    const text = this.written.get(key(owner, place)) ?? this.storage().getItem(key(owner, place));
    return text === null ? undefined : parseAnswer(text);
  }

  /** False: the browser does not take it, so that it is lost where the page is left. */
  write(owner: Person, place: string, value: unknown): boolean {
    const name = key(owner, place);
    const text = write(value);
    this.written.set(name, text);
    try {
      this.storage().setItem(name, text);
      this.unkept.delete(name);
    } catch {
      this.storage().removeItem(name);
      this.unkept.add(name);
    }
    return !this.unkept.has(name);
  }

  /** What is written at the place, and below it: `question/1` and `question/1/comment`. */
  drop(owner: Person, place: string): void {
    const name = key(owner, place);
    this.forget((each) => each === name || each.startsWith(`${name}/`));
  }

  /** Nobody else's; undefined: nobody's at all. */
  keepOnly(owner?: Person): void {
    const own = owner && key(owner, "");
    this.forget((each) => own === undefined || !each.startsWith(own));
  }

  get isAnyUnkept(): boolean {
    return this.unkept.size > 0;
  }

  private forget(is: (name: string) => boolean): void {
    const storage = this.storage();
    const kept = Array.from({ length: storage.length }, (_, at) => storage.key(at)!).filter((each) => each.startsWith(PREFIX));
    for (const name of new Set([...kept, ...this.written.keys()])) {
      if (!is(name)) continue;
      storage.removeItem(name);
      this.written.delete(name);
      this.unkept.delete(name);
    }
  }
}

export const drafts = new Drafts(() => sessionStorage);

function key(owner: Person, place: string): string {
  return `${PREFIX}${nameOf(owner)} ${place}`;
}
