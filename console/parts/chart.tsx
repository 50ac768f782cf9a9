/**
 * Charts that can be read without colours: each series has a pattern of its own, values stand beside their bars, and the
 * same figures are in a table behind each chart.
 */

import { useEffect, useId, useRef, useState } from "preact/hooks";

import { Table } from "./table";
import { visible } from "./words";

export interface Bar {
  /** An instant's beginning, a name. */
  label: string;
  /** One for each series; null: not known. */
  values: readonly (number | null)[];
}

interface Shown {
  title: string;
  /** What the chart says, in words. */
  says: string;
  /** What the labels are, such as `Day`. */
  of: string;
  series: readonly string[];
  bars: readonly Bar[];
  said: (value: number) => string;
  /** In the table, where it is said otherwise. */
  exactly?: (value: number) => string;
  /** Whether the bars follow one another in time. */
  isTime?: boolean;
}

const HIGH = 160;
const ROW = 40;
const LEAST = 2;

export function Chart(shown: Shown) {
  const { title, says, of, series, bars, said, exactly = said, isTime } = shown;
  const id = useId();
  return (
    <section class="chart" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>{says}</p>
      {bars.length > 0 && (
        <>
          {series.length > 1 && <Legend series={series} />}
          {isTime ? <Columns {...shown} /> : <Rows {...shown} />}
          <details>
            <summary>{title} as a table</summary>
            <Table
              label={title}
              columns={[
                { title: of, cell: (bar: Bar) => <bdi>{visible(bar.label)}</bdi> },
                ...series.map((name, index) => ({
                  title: name,
                  isNumber: true,
                  cell: (bar: Bar) => wording(bar.values[index], exactly),
                })),
              ]}
              rows={bars}
              name={(bar) => bar.label}
            />
          </details>
        </>
      )}
    </section>
  );
}

function wording(value: number | null | undefined, said: (value: number) => string): string {
  return value === null || value === undefined ? "not known" : said(value);
}

/** Each series of a chart has another one: filled, hatched, dotted, empty. */
function Pattern({ id, index }: { id: string; index: number }) {
  return (
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform={index === 1 ? "rotate(45)" : undefined}>
      <rect width="6" height="6" class={index % 4 === 0 ? "ink" : "paper"} />
      {index % 4 === 1 && <rect width="2.5" height="6" class="ink" />}
      {index % 4 === 2 && <circle cx="3" cy="3" r="1.4" class="ink" />}
    </pattern>
  );
}

function Legend({ series }: { series: readonly string[] }) {
  const id = useId();
  return (
    <ul class="legend" aria-hidden="true">
      {series.map((name, index) => (
        <li key={name}>
          <svg width="20" height="14">
            <Pattern id={`${id}${index}`} index={index} />
            <rect x="1" y="1" width="18" height="12" class="bar" fill={`url(#${id}${index})`} />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}

/** One below the other, each with its name and value. */
function Rows({ bars, series, said }: Shown) {
  const [box, width] = useWidth();
  const id = useId();
  const most = Math.max(...bars.map(sum), 0);
  return (
    <div ref={box} class="drawing">
      <svg width={width} height={bars.length * ROW} aria-hidden="true" class="rows">
        {series.map((name, index) => (
          <Pattern key={name} id={`${id}${index}`} index={index} />
        ))}
        {bars.map((bar, row) => {
          let left = 1;
          return (
            <g key={bar.label} transform={`translate(0 ${row * ROW})`}>
              <text x="0" y="14">
                {visible(bar.label)}
              </text>
              <text x={width} y="14" text-anchor="end" class="value">
                {bar.values.every((value) => value === null) ? "not known" : said(sum(bar))}
              </text>
              {bar.values.map((value, index) => {
                const wide = most > 0 ? ((value ?? 0) / most) * (width - LEAST) : 0;
                left += wide;
                return wide > 0 ? (
                  <rect key={index} x={left - wide} y="19" width={Math.max(LEAST, wide)} height="13" class="bar" fill={`url(#${id}${index})`} />
                ) : null;
              })}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

/** Side by side. What is most is said, and the first and last label. */
function Columns({ bars, series, said }: Shown) {
  const [box, width] = useWidth();
  const id = useId();
  const sums = bars.map(sum);
  const most = Math.max(...sums, 0);
  const peak = sums.indexOf(most);
  const each = width / Math.max(1, bars.length);
  const thick = Math.max(1, Math.min(each * 0.8, 72));
  const middle = (place: number) => (place + 0.5) * each;
  const end = (place: number) => (middle(place) < width / 3 ? "start" : middle(place) > (2 * width) / 3 ? "end" : "middle");
  const edge = (place: number) => ({ start: place * each, middle: middle(place), end: (place + 1) * each })[end(place)];
  const named = bars.length > 2 && width > 480 ? [0, Math.floor(bars.length / 2), bars.length - 1] : [0, bars.length - 1];
  return (
    <div ref={box} class="drawing">
      <svg width={width} height={HIGH + 44} aria-hidden="true">
        {series.map((name, index) => (
          <Pattern key={name} id={`${id}${index}`} index={index} />
        ))}
        {bars.map((bar, place) => {
          let top = 20 + HIGH;
          return bar.values.map((value, index) => {
            const high = most > 0 ? ((value ?? 0) / most) * HIGH : 0;
            top -= high;
            return high > 0 ? (
              <rect
                key={`${place}.${index}`}
                x={middle(place) - thick / 2}
                y={top}
                width={thick}
                height={Math.max(LEAST, high)}
                class="bar"
                fill={`url(#${id}${index})`}
              />
            ) : null;
          });
        })}
        <line x1="0" x2={width} y1={20 + HIGH} y2={20 + HIGH} class="axis" />
        {most > 0 && (
          <text x={edge(peak)} y="14" text-anchor={end(peak)} class="value">
            {said(most)}
          </text>
        )}
        {[...new Set(named)].map((place) => (
          <text key={place} x={edge(place)} y={HIGH + 38} text-anchor={end(place)}>
            {bars[place]?.label}
          </text>
        ))}
      </svg>
    </div>
  );
}

function sum(bar: Bar): number {
  return bar.values.reduce<number>((all, value) => all + (value ?? 0), 0);
}

/** Of what holds a drawing, so that its letters are never scaled. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(320);
  useEffect(() => {
    const seen = new ResizeObserver(([entry]) => entry && setWidth(Math.max(120, Math.floor(entry.contentRect.width))));
    seen.observe(box.current!);
    return () => seen.disconnect();
  }, []);
  return [box, width] as const;
}
