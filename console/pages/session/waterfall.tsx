/** The step log as a waterfall: what ran when, and for how long. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { at, get } from "../../api/request";
import type { Page } from "../../api/shapes";
import { LongList } from "../../parts/long-list";
import { span } from "../../parts/time";
import { sayError } from "../../parts/toasts";
import { visible } from "../../parts/words";
import { lineOf, type Step } from "./spans";

const PAGE = 200;
const ROW_HEIGHT = 28;
const KINDS: Record<Step["kind"], string> = { plan: "Planning", llm: "Model", judge: "Judge", tool: "Tool", intervention: "Person" };

/** `seq`: of the newest event, so that new steps are read when there are some. */
export function Waterfall({ sessionId, seq }: { sessionId: string; seq: number }) {
  const steps = useSteps(sessionId, seq);
  const line = useMemo(() => lineOf(steps ?? []), [steps]);
  if (!steps) return <p class="hint">Reading …</p>;
  if (!steps.length) return <p class="empty">Nothing has run yet.</p>;
  // Several questions may have been open at once.
  const asked = steps.filter(({ kind }) => kind === "intervention");
  const waited = lineOf(asked).busy;
  return (
    <>
      <p class="hint">
        Something ran for {seconds(line.busy - waited)}
        {waited > 0 && `, ${seconds(waited)} waited for people`}; {seconds(line.idle)} idle
        {line.folds.length > 0 && <>, folded at the dotted lines</>}.
      </p>
      <LongList
        label="Waterfall"
        count={steps.length}
        rowHeight={ROW_HEIGHT}
        row={(index) => {
          const { step, start, width } = line.spans[index]!;
          return (
            <div role="listitem" key={step.step_number} class={`bar-row ${step.kind}`}>
              <span class="name">
                <b>{KINDS[step.kind]}</b> <bdi>{visible(step.name ?? "")}</bdi>
                {step.error && <code> {visible(step.error)}</code>}
              </span>
              <span class="time">
                {line.folds.map((fold) => (
                  <i key={fold.at} class="fold" style={{ insetInlineStart: percent(fold.at) }} />
                ))}
                <i class="span" style={{ insetInlineStart: percent(Math.min(0.995, start)), width: percent(width) }} />
              </span>
              <span class="took">{seconds(step.duration_ms / 1_000)}</span>
            </div>
          );
        }}
      />
    </>
  );
}

/** The last page is read again each time: it grows. */
function useSteps(sessionId: string, seq: number): Step[] | undefined {
  const [steps, setSteps] = useState<Step[]>();
  const known = useRef({ whole: [] as Step[], cursor: "0" });
  useEffect(() => {
    const stopped = new AbortController();
    async function read(): Promise<void> {
      for (;;) {
        const { whole, cursor } = known.current;
        const path = at("/v1/sessions/{}/steps", sessionId);
        const page = await get<Page<Step>>(path, { limit: PAGE, cursor }, stopped.signal);
        setSteps([...whole, ...page.items]);
        if (page.next_cursor === null) return;
        known.current = { whole: [...whole, ...page.items], cursor: page.next_cursor };
      }
    }
    read().catch((error: unknown) => stopped.signal.aborted || sayError(error));
    return () => stopped.abort();
  }, [sessionId, seq]);
  return steps;
}

function seconds(count: number): string {
  return count < 10 ? `${Math.round(count * 1_000).toLocaleString("en-US")} ms` : span(count);
}

const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;
