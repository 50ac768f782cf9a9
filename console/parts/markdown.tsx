/**
 * Markdown of a model, as elements of the page's own. Its HTML is text, its images are links, its links say where they
 * go, and its headings are none of the page's. What is too long to be read so is shown as it is.
 */

import type { ComponentChildren } from "preact";

import { type Block, blocksOf, type Inline, inlineOf, target } from "./markdown-reader";
import { visible } from "./words";

/** Characters. */
const LONGEST = 100_000;

export function Markdown({ children }: { children: string }) {
  return children.length <= LONGEST ? (
    <div class="markdown" dir="auto">
      {blocksOf(children.replace(/\r\n/g, "\n")).map(block)}
    </div>
  ) : (
    <p class="plain" dir="auto">
      {visible(children)}
    </p>
  );
}

function block(of: Block): ComponentChildren {
  switch (of.kind) {
    case "paragraph":
      return <p>{words(of.text)}</p>;
    case "heading":
      return <p class="title">{words(of.text)}</p>;
    case "code":
      return <pre tabIndex={0}>{visible(of.text)}</pre>;
    case "rule":
      return <hr />;
    case "quote":
      return <blockquote>{of.blocks.map(block)}</blockquote>;
    case "list": {
      const items = of.items.map((each) => <li>{each.map(block)}</li>);
      return of.first === undefined ? <ul>{items}</ul> : <ol start={of.first}>{items}</ol>;
    }
    case "table":
      return (
        <div class="scrolls" tabIndex={0} role="group" aria-label="Table">
          <table>
            <thead>
              <tr>
                {of.head.map((each) => (
                  <th>{words(each)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {of.rows.map((row) => (
                <tr>
                  {row.map((each) => (
                    <td>{words(each)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

const words = (text: string): ComponentChildren => inlineOf(text).map(span);

function span(of: Inline): ComponentChildren {
  if (typeof of === "string") return visible(of);
  if (of.kind === "code") return <code>{visible(of.text)}</code>;
  if (of.kind === "link") return <Link href={of.href} raw={of.raw} parts={of.parts} />;
  const Tag = of.kind;
  return <Tag>{of.parts.map(span)}</Tag>;
}

/** With its host, which the words of a link may hide. */
function Link({ href, raw, parts }: { href: string; raw: string; parts: Inline[] }) {
  const url = target(href);
  if (!url) return <>{visible(raw)}</>;
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" referrerpolicy="no-referrer">
        {parts.map(span)}
      </a>{" "}
      <span class="host">({visible(url.host || url.pathname)})</span>
    </>
  );
}
