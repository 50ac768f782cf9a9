/** The trace as a tree that grows while the session works. One row at a time is shown whole beside it. */

import { useMemo, useState } from "preact/hooks";

import type { Event } from "../../api/shapes";
import { LongList } from "../../parts/long-list";
import { visible } from "../../parts/words";
import { RowDetail } from "./row-detail";
import type { Conversation } from "./texts";
import { inSight, isOpen, type Row, rowsOf } from "./trace-rows";

const ROW_HEIGHT = 32;

interface Shown {
  events: readonly Event[];
  isOver: boolean;
  conversation: Conversation;
  chosen: string | undefined;
  onChoose: (key: string) => void;
}

export function Trace({ events, isOver, conversation, chosen, onChoose }: Shown) {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => rowsOf(events), [events]);
  const seen = useMemo(() => inSight(rows, turned), [rows, turned]);
  const place = chosen === undefined ? -1 : seen.findIndex((row) => row.key === chosen);
  const row = chosen === undefined ? undefined : (seen[place] ?? rows.find((each) => each.key === chosen));

  function turn({ key }: Row): void {
    const next = new Set(turned);
    if (!next.delete(key)) next.add(key);
    setTurned(next);
  }

  function move(event: KeyboardEvent): void {
    const at = seen[place];
    const page = 15;
    const to: Record<string, number> = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + page,
      PageUp: place - page,
      Home: 0,
      End: seen.length - 1,
    };
    const next = to[event.key];
    if (next !== undefined) {
      const target = seen[Math.max(0, Math.min(seen.length - 1, next))];
      if (target) onChoose(target.key);
    } else if (at?.hasChildren && (event.key === "Enter" || event.key === " ")) turn(at);
    else if (at?.hasChildren && event.key === "ArrowRight" && !isOpen(at, turned)) turn(at);
    else if (at?.hasChildren && event.key === "ArrowLeft" && isOpen(at, turned)) turn(at);
    else return;
    event.preventDefault();
  }

  return (
    <div class="trace">
      <LongList
        label="Trace"
        role="tree"
        count={seen.length}
        rowHeight={ROW_HEIGHT}
        follows={!isOver}
        shown={place}
        active={place >= 0 ? `row-${seen[place]!.event.seq}-${seen[place]!.kind}` : undefined}
        onKeyDown={move}
        row={(index) => {
          const each = seen[index]!;
          return (
            <Line
              key={each.key}
              row={each}
              isOpen={isOpen(each, turned)}
              isChosen={each.key === chosen}
              onChoose={() => onChoose(each.key)}
              onTurn={() => turn(each)}
            />
          );
        }}
      />
      {row ? (
        <RowDetail key={row.key} row={row} conversation={conversation} />
      ) : (
        <p class="hint detail">Choose a row to see all of it.</p>
      )}
    </div>
  );
}

interface OfLine {
  row: Row;
  isOpen: boolean;
  isChosen: boolean;
  onChoose: () => void;
  onTurn: () => void;
}

function Line({ row, isOpen: open, isChosen, onChoose, onTurn }: OfLine) {
  return (
    <div
      id={`row-${row.event.seq}-${row.kind}`}
      role="treeitem"
      class={`line ${row.kind} depth${row.depth}`}
      aria-level={row.depth + 1}
      aria-expanded={row.hasChildren ? open : undefined}
      aria-selected={isChosen}
      onClick={onChoose}
      onDblClick={row.hasChildren ? onTurn : undefined}
    >
      <span
        class="turn"
        aria-hidden="true"
        onClick={(event) => {
          if (!row.hasChildren) return;
          event.stopPropagation();
          onTurn();
        }}
      >
        {row.hasChildren ? (open ? "▾" : "▸") : ""}
      </span>
      <b class="kind">
        {row.name} {row.mark && <i class={row.mark === "✗" ? "failed" : ""}>{row.mark}</i>}
      </b>
      <bdi class={row.isTheirs ? "theirs" : ""}>{visible(row.text)}</bdi>
      <time dateTime={row.at}>{new Date(row.at).toLocaleTimeString()}</time>
    </div>
  );
}
