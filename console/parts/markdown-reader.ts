/**
 * Reads Markdown to data: what agents write, which is paragraphs, headings, lists, quotes, code, tables, emphasis and
 * links. HTML is text like any other. It takes time that grows with the length alone: what is looked for is bounded.
 */

export type Block =
  | { kind: "paragraph" | "heading"; text: string }
  | { kind: "code"; text: string }
  | { kind: "rule" }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; first: number | undefined; items: Block[][] }
  | { kind: "table"; head: string[]; rows: string[][] };

export type Inline =
  | string
  | { kind: "strong" | "em" | "del"; parts: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "link"; href: string; raw: string; parts: Inline[] };

const DEEPEST = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*)$/;
const RULE = /^ {0,3}(?:-[ \t]*-[ \t]*-[-\t ]*|\*[ \t]*\*[ \t]*\*[*\t ]*|_[ \t]*_[ \t]*_[_\t ]*)$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)(?:[-+*]|(\d{1,9})[.)])[ \t]+(.*)$/;
const DASHES = /^ *\|?(?: *:?-+:? *\|)+ *(?::?-+:?)? *$/;

export function blocksOf(text: string, depth = 0): Block[] {
  if (depth > DEEPEST) return [{ kind: "paragraph", text }];
  const lines = text.split("\n");
  const found: Block[] = [];
  let at = 0;
  const take = (fits: (line: string) => boolean): string[] => {
    const begin = at;
    while (at < lines.length && fits(lines[at]!)) at += 1;
    return lines.slice(begin, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const fence = FENCE.exec(line)?.[1];
    const item = ITEM.exec(line);
    if (!line.trim()) at += 1;
    else if (fence) {
      at += 1;
      found.push({ kind: "code", text: take((each) => !each.trim().startsWith(fence)).join("\n") });
      at += 1;
    } else if (HEADING.test(line)) {
      found.push({ kind: "heading", text: HEADING.exec(line)![1]! });
      at += 1;
    } else if (RULE.test(line)) {
      found.push({ kind: "rule" });
      at += 1;
    } else if (QUOTE.test(line)) {
      const inside = take((each) => QUOTE.test(each)).map((each) => each.replace(QUOTE, ""));
      found.push({ kind: "quote", blocks: blocksOf(inside.join("\n"), depth + 1) });
    } else if (item) {
      const indent = item[1]!.length;
      const items: Block[][] = [];
      const isOf = (each: RegExpExecArray) => each[1]!.length === indent && !each[2] === !item[2];
      for (let next: RegExpExecArray | null = item; next && isOf(next); ) {
        at += 1;
        const inside = take((each) => /^\s*$/.test(each) || /^ */.exec(each)![0].length > indent);
        items.push(blocksOf([next[3]!, ...inside.map((each) => each.slice(indent + 2))].join("\n"), depth + 1));
        next = at < lines.length ? ITEM.exec(lines[at]!) : null;
      }
      found.push({ kind: "list", first: item[2] === undefined ? undefined : Number(item[2]), items });
    } else if (line.includes("|") && DASHES.test(lines[at + 1] ?? "")) {
      at += 2;
      found.push({ kind: "table", head: cells(line), rows: take((each) => each.includes("|")).map(cells) });
    } else {
      at += 1;
      found.push({ kind: "paragraph", text: [line, ...take((each) => !begins(each))].join("\n") });
    }
  }
  return found;
}

/** Whether something else than the paragraph goes on with this line. */
function begins(line: string): boolean {
  return !line.trim() || [FENCE, HEADING, RULE, QUOTE, ITEM].some((each) => each.test(line));
}

function cells(line: string): string[] {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((each) => each.trim());
}

const INLINE = new RegExp(
  [
    /\\([!-/:-@[-`{-~])/,
    /(`{1,3})([^\n]{1,1000}?)\2(?!`)/,
    /\*\*(?=\S)([^\n]{1,1000}?\S?)\*\*/,
    /~~(?=\S)([^\n]{1,1000}?)~~/,
    /\*(?=[^\s*])([^\n*]{1,1000})\*/,
    /(?<![\p{L}\p{M}\p{N}_])_(?=[^\s_])([^\n_]{1,1000})_(?![\p{L}\p{M}\p{N}_])/u,
    /!?\[([^\][\n]{0,1000})\]\(<?([^()\s<>]{1,2000})>?(?: "[^"\n]{0,300}")?\)/,
    /https?:\/\/[^\s<>"'`()]{1,2000}[^\s<>"'`().,:;!?]/,
  ]
    .map((each) => each.source)
    .join("|"),
  "gu",
);

export function inlineOf(text: string, depth = 0): Inline[] {
  if (depth > DEEPEST) return [text];
  const found: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > end) found.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const [raw, escaped, , code, strong, del, star, line, words, href] = match;
    const em = star ?? line;
    if (escaped !== undefined) found.push(escaped);
    else if (code !== undefined) found.push({ kind: "code", text: code });
    else if (strong !== undefined) found.push({ kind: "strong", parts: inlineOf(strong, depth + 1) });
    else if (del !== undefined) found.push({ kind: "del", parts: inlineOf(del, depth + 1) });
    else if (em !== undefined) found.push({ kind: "em", parts: inlineOf(em, depth + 1) });
    else if (href !== undefined) found.push({ kind: "link", href, raw, parts: inlineOf(words || "image", DEEPEST + 1) });
    else found.push({ kind: "link", href: raw, raw, parts: [raw] });
  }
  if (end < text.length) found.push(text.slice(end));
  return found;
}

/** Where a link leads, if it may be followed at all. */
export function target(href: string): URL | undefined {
  try {
    const url = new URL(href);
    return ["https:", "http:", "mailto:"].includes(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}
