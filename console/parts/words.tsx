/**
 * Words that are not the page's own: of a model, a tool, a file, a person. They are text, always. Characters that hide or
 * reorder text are shown by their number. What is theirs stands in a frame that says whose it is.
 */

import type { ComponentChildren } from "preact";

import { IN_DATA, IN_PROSE } from "./hidden";

/** With hidden characters as `⟨U+202E⟩`. `isExact`: the text is data, in which no other space may pass for a space. */
export function visible(text: string, isExact = false): string {
  return text.replace(/\r\n/g, "\n").replace(isExact ? IN_DATA : IN_PROSE, (hidden: string, needed?: string) => {
    if (needed !== undefined) return needed;
    const code = hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    return `⟨U+${code}⟩`;
  });
}

/** The beginning of a text, at most `most` units of UTF-16. No character is cut in two. */
export function beginning(text: string, most: number): string {
  return text.slice(0, text.codePointAt(most - 1)! > 0xffff ? most - 1 : most);
}

/** A line of somebody else's text. `dir="auto"`: right-to-left text reads as it should and moves nothing beside it. */
export function Text({ children }: { children: string }) {
  return <bdi>{visible(children)}</bdi>;
}

/** Somebody else's words, in a frame. `by`: whose they are, in the page's own words. */
export function Quoted({ by, children }: { by: string; children: ComponentChildren }) {
  return (
    <figure class="quoted">
      <figcaption>{by}</figcaption>
      <blockquote dir="auto" tabIndex={isLong(children) ? 0 : undefined}>
        {typeof children === "string" ? visible(children) : children}
      </blockquote>
    </figure>
  );
}

/** Whether it may have to be scrolled, which has to work by keyboard, too. */
function isLong(words: ComponentChildren): boolean {
  return typeof words === "string" && (words.length > 800 || words.split("\n", 10).length === 10);
}
