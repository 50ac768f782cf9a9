/** What a file says, as text and never as anything else. Of a long one a part at a time. */

import { useEffect, useState } from "preact/hooks";

import { bytes } from "../../parts/amounts";
import { Refusal } from "../../parts/refusal";
import { beginning, visible } from "../../parts/words";
import { contentOf, encodingOf, textOf } from "./saving";

const PART = 100_000;

type Seen = { text: string; encoding: string } | { size: number };

export function Content({ path }: { path: string }) {
  const [seen, setSeen] = useState<Seen>();
  const [problem, setProblem] = useState<Error>();
  const [shown, setShown] = useState(PART);
  useEffect(() => {
    contentOf(path)
      .then(async (content) => {
        const text = await textOf(content);
        setSeen(text === undefined ? { size: content.size } : { text, encoding: encodingOf(content) });
      })
      .catch(setProblem);
  }, [path]);
  if (problem) return <Refusal error={problem} />;
  if (!seen) return <p class="hint">Reading the file …</p>;
  if ("size" in seen) return <p class="empty">It is no text ({bytes(seen.size)}). Download it to see it.</p>;
  if (seen.text === "") return <p class="empty">It is empty.</p>;
  return (
    <>
      {seen.encoding !== "utf-8" && (
        <p class="hint">It is shown as {seen.encoding}, which is a guess unless the file says so itself.</p>
      )}
      <pre class="content" tabIndex={0} aria-label="What the file says" dir="auto">
        {visible(beginning(seen.text, shown))}
      </pre>
      {shown < seen.text.length && (
        <p>
          This is the beginning: {shown.toLocaleString("en")} of {seen.text.length.toLocaleString("en")} characters.{" "}
          <button type="button" onClick={() => setShown(shown + PART)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
