/** What starts sessions without a person: schedules and triggers, one of them, and what became of its times or events. */

import type { ComponentChildren } from "preact";

import { all, ask, at, get, page } from "../../api/request";
import type { Page, Shapes } from "../../api/shapes";
import { useEvery } from "../../live/watch";
import { narrowed, path, query, to } from "../../navigation/places";
import { Freshness } from "../../parts/fresh";
import { Heading } from "../../parts/heading";
import { cursor, Pager } from "../../parts/pager";
import { Refusal } from "../../parts/refusal";
import { type Column, Table } from "../../parts/table";
import { Tabs } from "../../parts/tabs";
import { Ago, Until } from "../../parts/time";
import { say } from "../../parts/toasts";
import { useAct } from "../../parts/use-act";
import { Quoted, Text, visible } from "../../parts/words";
import { may, me } from "../../sign-in/tokens";

type Schedule = Shapes["Schedule"];
type Trigger = Shapes["Trigger"] & Partial<Shapes["TriggerWithCounts"]>;

/** What the two kinds share. */
type Written = Pick<Schedule, "paused" | "agent_id" | "goal" | "created_by">;

/** Of either kind: where it is read, and how it is shown. */
interface Kind<One, Past> {
  place: "schedules" | "triggers";
  title: string;
  id: (one: One) => string;
  columns: readonly Column<One>[];
  facts: (one: One) => readonly (readonly [string, ComponentChildren])[];
  /** What its past is called in the API, and on the page. */
  past: readonly [path: string, title: string];
  pastName: (past: Past) => string;
  pastColumns: (act: Act) => readonly Column<Past>[];
  /** Outcomes that its past can be narrowed to. */
  outcomes: readonly string[];
  canRun: boolean;
}

/** Sends a request below the one that is shown, and says what was done. */
type Act = (below: string, done: string) => () => void;

const agent = (id: string) => <a href={to("agents", id)}>{visible(id)}</a>;
const session = (id: string | null) => id && <a href={to("sessions", id)}>{id}</a>;
const because = (reason: string | null) => reason && <Text>{reason}</Text>;
const when = (one: Schedule) => `${one.cron ?? `every ${one.every}`}, ${one.timezone}`;

/** As the clocks of the schedule show it. */
function OfZone({ at: then, zone }: { at: string; zone: string }) {
  const shown = new Date(then).toLocaleString([], { timeZone: zone, dateStyle: "full", timeStyle: "short" });
  return <time dateTime={then}>{shown}</time>;
}

function Paused({ of }: { of: { paused: boolean } }) {
  return of.paused ? <span class="tag warn">paused</span> : null;
}

const SCHEDULES: Kind<Schedule, Shapes["ScheduleRun"] & { zone?: string }> = {
  place: "schedules",
  title: "Schedules",
  id: (one) => one.schedule_id,
  columns: [
    { title: "Agent", cell: (one) => agent(one.agent_id) },
    { title: "When", cell: when },
    { title: "Next", cell: (one) => (one.paused ? <Paused of={one} /> : one.next_at ? <Until at={one.next_at} /> : "ended") },
    { title: "Last", cell: (one) => one.last_at && <Ago at={one.last_at} /> },
    { title: "Failures in a row", isNumber: true, cell: (one) => one.failures },
  ],
  facts: (one) => [
    ["When", when(one)],
    ["Next five times", <ul>{one.next?.map((each) => <li key={each}><OfZone at={each} zone={one.timezone} /></li>)}</ul>],
    ["While the last one is open", one.overlap],
    ["Missed times are made up for", one.catch_up],
    ["Failures in a row", one.failures],
  ],
  past: ["runs", "History"],
  pastName: (run) => run.tick + run.at,
  pastColumns: () => [
    { title: "Time", cell: (run) => new Date(run.tick).toLocaleString() },
    { title: "Outcome", cell: (run) => run.outcome + (run.asked ? ", asked for" : "") },
    { title: "Session", cell: (run) => session(run.session_id) },
    { title: "Why", cell: (run) => because(run.reason) },
  ],
  outcomes: [],
  canRun: true,
};

const TRIGGERS: Kind<Trigger, Shapes["TriggerEvent"]> = {
  place: "triggers",
  title: "Triggers",
  id: (one) => one.trigger_id,
  columns: [
    { title: "Agent", cell: (one) => agent(one.agent_id) },
    { title: "Events of", cell: (one) => <Text>{one.source ?? `a webhook (${one.webhook?.scheme})`}</Text> },
    { title: "State", cell: (one) => <Paused of={one} /> },
  ],
  facts: (one) => [
    ["Events of", <Text>{one.source ?? one.url ?? ""}</Text>],
    ["At a limit", one.on_limit],
    ["So far", Object.entries(one.events ?? {}).map(([outcome, count]) => `${count} ${outcome}`).join(", ")],
  ],
  past: ["events", "Events"],
  pastName: (event) => event.event_id,
  pastColumns: (act) => [
    { title: "Came", cell: (event) => <Ago at={event.received_at} /> },
    { title: "Outcome", cell: (event) => event.outcome },
    { title: "Session", cell: (event) => session(event.session_id) },
    { title: "Why", cell: (event) => because(event.reason) },
    {
      title: "Replay",
      cell: (event) =>
        (event.outcome === "refused" || event.outcome === "failed") && (
          <button type="button" onClick={act(at("events/{}/replay", event.event_id), "It is tried in the next minute.")}>
            Replay
          </button>
        ),
    },
  ],
  outcomes: ["waiting", "refused", "failed"],
  canRun: false,
};

export const Schedules = () => <Place kind={SCHEDULES} />;
export const Triggers = () => <Place kind={TRIGGERS} />;

function Place<One extends Written, Past>({ kind }: { kind: Kind<One, Past> }) {
  const id = path.value[1];
  return id ? <OneOf key={id} kind={kind} id={id} /> : <List kind={kind} />;
}

function List<One, Past>({ kind: { place, title, id, columns } }: { kind: Kind<One, Past> }) {
  const live = useEvery<One[]>(place, () => all<One>(`/v1/${place}`));
  const found = live.value.value;
  return (
    <>
      <Heading title={title} />
      {may("admin") && <Tabs label="What starts sessions by itself" of={[["schedules", "Schedules"], ["triggers", "Triggers"]]} />}
      <Freshness of={live} reading="Reading …" />
      {found?.length === 0 && <p class="empty">There is none. Write one as a file for acta apply, or over the API.</p>}
      {found && found.length > 0 && (
        <Table
          label={title}
          rows={found}
          name={id}
          columns={[{ title: "Name", cell: (one) => <a href={to(place, id(one))}>{visible(id(one))}</a> }, ...columns]}
        />
      )}
    </>
  );
}

function OneOf<One extends Written, Past>({ kind, id }: { kind: Kind<One, Past>; id: string }) {
  const { place, facts, past, canRun, outcomes } = kind;
  const base = at(`/v1/${place}/{}`, id);
  const asked = { limit: 25, cursor: cursor(), outcome: query.value.get("outcome") || undefined };
  const live = useEvery(`${place}.${id}`, (signal) => get<One>(base, undefined, signal));
  const history = useEvery(`${place}.${id}.${JSON.stringify(asked)}`, (signal) => page<Page<Past>>(`${base}/${past[0]}`, asked, signal));
  const { isBusy, failure, act } = useAct();
  const begin: Act = (below, done) => () =>
    void act(async () => {
      await ask("POST", `${base}/${below}`);
      say(done);
      live.refresh();
      history.refresh();
    });
  const one = live.value.value;
  const found = history.value.value;
  return (
    <>
      <Heading title={id} back={[place, `All ${place}`]}>
        {one && (may("admin") || one.created_by === me.value?.user) && (
          <span class="acts">
            {canRun && (
              <button type="button" class="primary" disabled={isBusy} onClick={begin("run", "A session has begun.")}>
                Run now
              </button>
            )}
            <button type="button" disabled={isBusy} onClick={begin(one.paused ? "resume" : "pause", one.paused ? "It goes on." : "It is paused.")}>
              {one.paused ? "Resume" : "Pause"}
            </button>
          </span>
        )}
      </Heading>
      <Freshness of={live} reading="Reading …" />
      <Refusal error={failure} />
      {one && (
        <>
          <Paused of={one} />
          <Quoted by="The goal">{one.goal ?? "It is private to somebody else."}</Quoted>
          <dl>
            <dt>Agent</dt>
            <dd>{agent(one.agent_id)}</dd>
            {facts(one).map(([name, value]) => (
              <>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </>
            ))}
          </dl>
        </>
      )}
      <h2>{past[1]}</h2>
      {outcomes.length > 0 && (
        <nav class="tabs" aria-label="Outcome">
          {["", ...outcomes].map((each) => (
            <a key={each} href={narrowed({ outcome: each, after: "" })} aria-current={(asked.outcome ?? "") === each ? "true" : undefined}>
              {each || "all"}
            </a>
          ))}
        </nav>
      )}
      <Freshness of={history} />
      {found?.items.length === 0 && <p class="empty">There is none.</p>}
      {found && found.items.length > 0 && (
        <Table label={past[1]} rows={found.items} name={kind.pastName} columns={kind.pastColumns(begin)} />
      )}
      <Pager next={found?.next_cursor} />
    </>
  );
}
