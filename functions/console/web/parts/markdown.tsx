/**
 * Markdown of a model, as elements of the page's own. Its HTML is text, its images are links, its links say where they
 * go, and its headings are none of the page's. What is too long or too deep to read so is shown as it is.
 */

import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";

import { visible } from "./words";

/** Characters that are read as Markdown. Reading some texts takes time that grows with the square of their length. */
const LONGEST = 30_000;
/** Characters of a paragraph. */
const LONGEST_PARAGRAPH = 4_000;
const DEEPEST = 12;

export function Markdown({ children }: { children: string }) {
  const tokens = tokensOf(children);
  return tokens ? (
    <div class="markdown" dir="auto">
      {blocks(tokens, 0)}
    </div>
  ) : (
    <p class="plain" dir="auto">
      {visible(children)}
    </p>
  );
}

/** undefined: it cannot be read as Markdown in a reasonable time. */
export function tokensOf(text: string): Token[] | undefined {
  if (text.length > LONGEST || isTooDeep(text)) return undefined;
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return undefined;
  }
}

/** Quotes in quotes and lists in lists without end, and paragraphs of marks alone. */
function isTooDeep(text: string): boolean {
  return /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])[ \t]*){13}/m.test(text) || hasLongParagraph(text);
}

/** Lines of fenced code, rows of tables and items of lists are read each alone. */
function hasLongParagraph(text: string): boolean {
  let length = 0;
  let isCode = false;
  for (const line of text.split("\n")) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode;
    length = isCode || !line.trim() ? 0 : /^\s*(?:[-+*|#]|\d{1,9}[.)])/.test(line) ? line.length : length + line.length;
    if (length > LONGEST_PARAGRAPH) return true;
  }
  return false;
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

function blocks(tokens: readonly Token[], depth: number): ComponentChildren {
  if (depth > DEEPEST) return visible(tokens.map((each) => each.raw).join(""));
  return tokens.map((each) => block(each, depth + 1));
}

function block(token: Token, depth: number): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return null;
    case "heading":
      return <p class={`title level${(token as Tokens.Heading).depth}`}>{inline(token, depth)}</p>;
    case "paragraph":
      return <p>{inline(token, depth)}</p>;
    case "code":
      return <pre tabIndex={0}>{visible((token as Tokens.Code).text)}</pre>;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], depth)}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return <List list={token as Tokens.List} depth={depth} />;
    case "table":
      return <Table table={token as Tokens.Table} depth={depth} />;
    case "html":
      return <p class="plain">{visible(token.raw)}</p>;
    default:
      return inline(token, depth);
  }
}

function List({ list, depth }: { list: Tokens.List; depth: number }) {
  const items = list.items.map((item) => (
    <li>
      {item.task && (item.checked ? "☑ " : "☐ ")}
      {blocks(item.tokens, depth)}
    </li>
  ));
  return list.ordered ? <ol start={list.start || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }) {
  return (
    <div class="scrolls" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell) => (
              <th>{spans(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{spans(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(token: Token, depth: number): ComponentChildren {
  const { tokens } = token as Tokens.Paragraph;
  return tokens?.length ? spans(tokens, depth) : words(token);
}

function spans(tokens: readonly Token[], depth: number): ComponentChildren {
  if (depth > DEEPEST) return visible(tokens.map((each) => each.raw).join(""));
  return tokens.map((each) => span(each, depth + 1));
}

function span(token: Token, depth: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token, depth)}</strong>;
    case "em":
      return <em>{inline(token, depth)}</em>;
    case "del":
      return <del>{inline(token, depth)}</del>;
    case "codespan":
      return <code>{visible((token as Tokens.Codespan).text)}</code>;
    case "checkbox":
      return null;
    case "br":
      return <br />;
    case "link":
      return (
        <Link href={(token as Tokens.Link).href} raw={token.raw}>
          {inline(token, depth)}
        </Link>
      );
    case "image":
      return (
        <Link href={(token as Tokens.Image).href} raw={token.raw}>
          {visible((token as Tokens.Image).text || "image")}
        </Link>
      );
    case "html":
      return visible(token.raw);
    case "text":
    case "escape":
      return inline(token, depth);
    default:
      return visible(token.raw);
  }
}

/** With its host, which the words of a link may hide. */
function Link({ href, raw, children }: { href: string; raw: string; children: ComponentChildren }) {
  const url = target(href);
  if (!url) return visible(raw);
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">
        {children}
      </a>{" "}
      <span class="host">({visible(url.host || url.pathname)})</span>
    </>
  );
}

function words(token: Token): string {
  return visible(decoded((token as Tokens.Text).text ?? token.raw));
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };

/** Markdown writes some characters as HTML does. */
function decoded(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
