/** The sessions of the tenant, newest first: looked through, and several cancelled at once. */

import { useState } from "preact/hooks";

import { page } from "../../api/request";
import type { Page, Session } from "../../api/shapes";
import { EVERY } from "../../live/how-often";
import { useEvery } from "../../live/watch";
import { to } from "../../navigation/places";
import { counted } from "../../parts/amounts";
import { Freshness } from "../../parts/fresh";
import { Heading } from "../../parts/heading";
import { cursor, Pager } from "../../parts/pager";
import { InLine } from "../../parts/in-line";
import { isOpen, SessionState } from "../../parts/session-state";
import { type Column, Table } from "../../parts/table";
import { Ago } from "../../parts/time";
import { Text } from "../../parts/words";
import { Origin } from "../session/agents";
import { CancelSeveral } from "./cancel-several";
import { Filters, isNarrowed, wanted } from "./filters";
import { named } from "./goal-text";

const PAGE = 25;

export function Sessions() {
  const asked = { ...wanted(), limit: PAGE, cursor: cursor() };
  const live = useEvery(`sessions.${JSON.stringify(asked)}`, (signal) => page<Page<Session>>("/v1/sessions", asked, signal), EVERY.sessions);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [cancelled, setCancelled] = useState<Session[]>();
  const found = live.value.value?.items;
  const open = (found ?? []).filter(isOpen);
  const picked = open.filter((each) => chosen.has(each.session_id));

  function choose(ids: readonly string[], is: boolean): void {
    const next = new Set(chosen);
    for (const id of ids) {
      if (is) next.add(id);
      else next.delete(id);
    }
    setChosen(next);
  }

  const choice: Column<Session> = {
    title: "Choose",
    head: (
      <input
        type="checkbox"
        aria-label="Choose all that are open"
        disabled={open.length === 0}
        checked={open.length > 0 && picked.length === open.length}
        onChange={(event) => choose(open.map((each) => each.session_id), event.currentTarget.checked)}
      />
    ),
    cell: (each) =>
      isOpen(each) && (
        <input
          type="checkbox"
          aria-label={`Choose ${named(each)}`}
          checked={chosen.has(each.session_id)}
          onChange={(event) => choose([each.session_id], event.currentTarget.checked)}
        />
      ),
  };

  return (
    <>
      <Heading title="Sessions">
        <a class="button primary" href={to("sessions", "new")}>
          Start a session
        </a>
      </Heading>
      <Filters />
      <Freshness of={live} reading="Reading the sessions …" />
      {found?.length === 0 && <p class="empty">{nothing(Boolean(live.value.value?.next_cursor))}</p>}
      {found && found.length > 0 && (
        <>
          <p class="chosen" role="status">
            <button type="button" class="danger" disabled={picked.length === 0} onClick={() => setCancelled(picked)}>
              Cancel {picked.length > 0 ? counted(picked.length, "session") : "those chosen"}
            </button>
          </p>
          <Table label="Sessions" columns={[choice, ...COLUMNS]} rows={found} name={(each) => each.session_id} />
        </>
      )}
      <Pager next={live.value.value?.next_cursor} />
      {cancelled && (
        <CancelSeveral
          sessions={cancelled}
          onClose={() => {
            setCancelled(undefined);
            live.refresh();
          }}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Session>[] = [
  {
    title: "Goal",
    cell: (each) => (
      <a class="goal" href={to("sessions", each.session_id)}>
        <Text>{named(each)}</Text>
      </a>
    ),
  },
  {
    title: "State",
    cell: (each) => (
      <>
        <SessionState of={each} /> <InLine of={each} />
      </>
    ),
  },
  { title: "Plan", cell: (each) => progress(each) },
  { title: "Agent", cell: (each) => <Text>{each.agent_name}</Text> },
  {
    title: "By",
    cell: (each) => (
      <>
        <Text>{each.created_by}</Text>
        {each.visibility === "private" && <span class="tag">private</span>} {each.origin && <Origin of={each.origin} />}
      </>
    ),
  },
  { title: "Started", cell: (each) => <Ago at={each.created_at} /> },
];

function progress({ plan }: Session): string {
  if (!plan || plan.steps.length === 0) return "";
  const over = plan.steps.filter((each) => each.status === "completed" || each.status === "skipped").length;
  return `${over} of ${plan.steps.length}`;
}

function nothing(isMore: boolean): string {
  if (isMore) return "None of the newest sessions fits. Look at the next page for older ones.";
  if (isNarrowed()) return "No session fits. Change the filters.";
  return cursor() ? "There are no older sessions." : "Nobody has started a session yet.";
}
