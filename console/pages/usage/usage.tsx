/** What the tenant has used; of somebody who is no admin, what they have used themselves. */

import { get } from "../../api/request";
import { EVERY } from "../../live/how-often";
import { useEvery } from "../../live/watch";
import { narrow, query } from "../../navigation/places";
import { Choice } from "../../parts/field";
import { Freshness } from "../../parts/fresh";
import { Ago, span } from "../../parts/time";
import { may, me } from "../../sign-in/tokens";
import { CostChart, EndsChart, PlanChart, TokenChart, WaitChart } from "./charts";
import { counted, dollars } from "../../parts/amounts";
import { RANGES, short, type TenantUsage, type UsageItem } from "./figures";

const DAY_MS = 86_400_000;
const MOST = 200;

const GROUPS: { by: TenantUsage["by"]; title: string; role: string }[] = [
  { by: "day", title: "Day", role: "member" },
  { by: "hour", title: "Hour", role: "admin" },
  { by: "agent", title: "Agent", role: "admin" },
  { by: "model", title: "Model", role: "admin" },
  { by: "user", title: "Person", role: "admin" },
];

export function Usage() {
  const range = RANGES[query.value.get("range") ?? ""] ? query.value.get("range")! : "7d";
  const group = GROUPS.find((each) => each.by === query.value.get("by") && may(each.role)) ?? GROUPS[0]!;
  const live = useEvery<TenantUsage>(`usage.${me.value?.user}.${range}.${group.by}`, (signal) => read(range, group.by, signal), EVERY.usage);
  const found = live.value.value;
  const all = may("admin");
  return (
    <>
      <h1 tabIndex={-1}>{all ? "Usage" : "Your usage"}</h1>
      <div class="filters">
        <Choice label="Time" value={range} write={(name) => narrow({ range: name })} of={Object.entries(RANGES).map(([name, { title }]) => [name, title])} />
        {all && (
          <Choice label="Grouped by" value={group.by} write={(by) => narrow({ by })} of={GROUPS.map((each) => [each.by, each.title])} />
        )}
      </div>
      <Freshness of={live} reading="Adding up …" />
      {found && <Shown usage={found} group={group.title} range={RANGES[range]!.title} />}
    </>
  );
}

function Shown({ usage, group, range }: { usage: TenantUsage; group: string; range: string }) {
  const { tokens, cost, work } = usage.total;
  const all = { usage, group };
  return (
    <>
      <p class="hint">
        {usage.complete_until ? (
          <>
            What was done until <Ago at={usage.complete_until} /> is counted. Days are those of UTC.
          </>
        ) : (
          "Nothing has been counted yet. Usage is counted within minutes."
        )}
      </p>
      <dl class="figures" aria-label={`In ${range}`}>
        <Figure title="Tokens" value={short(tokens.total)} more={counted(tokens.model_calls, "model call")} />
        <Figure
          title="Cost"
          value={cost.total_usd === null ? "not known" : dollars(cost.total_usd)}
          more={cost.unpriced_calls ? `${counted(cost.unpriced_calls, "call")} of models without a known price` : "models, and AWS estimated"}
        />
        <Figure title="Sessions" value={short(work.sessions.started)} more={`${counted(work.runs.started, "run")} began`} />
        <Figure title="Goals met" value={share(work.runs.goal_met_rate)} more={`${work.runs.goal_met} of the runs that ended`} />
        <Figure title="Needed nobody" value={share(work.runs.unaided_rate)} more={`${work.runs.unaided} of the runs that ended`} />
        <Figure title="Answers rated good" value={share(work.ratings.up_rate)} more={`${work.ratings.up} good, ${work.ratings.down} bad`} />
        <Figure
          title="Questions to people"
          value={short(work.interventions.opened)}
          more={`${work.interventions.resolved} decided, ${work.interventions.expired} expired`}
        />
        <Figure title="Tool calls" value={short(work.tools.ok + work.tools.failed)} more={`${work.tools.failed} failed`} />
        <Figure title="Waited for people" value={span(work.interventions.waited_seconds)} more="in all" />
      </dl>
      <TokenChart {...all} />
      <CostChart {...all} />
      <EndsChart {...all} />
      {usage.by !== "model" && (
        <>
          <WaitChart {...all} />
          <PlanChart {...all} />
        </>
      )}
    </>
  );
}

const share = (rate: number | null): string => (rate === null ? "none" : `${Math.round(100 * rate)} %`);

function Figure({ title, value, more }: { title: string; value: string; more: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <strong>{value}</strong> <span class="hint">{more}</span>
      </dd>
    </div>
  );
}

/** All pages of it. Throws Refused. */
async function read(range: string, by: TenantUsage["by"], signal: AbortSignal): Promise<TenantUsage> {
  const to = new Date();
  const from = new Date(to.getTime() - RANGES[range]!.days * DAY_MS);
  const asked = { by, from: from.toISOString(), to: to.toISOString(), limit: MOST };
  const items: UsageItem[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page: TenantUsage = await get<TenantUsage>("/v1/usage", { ...asked, cursor }, signal);
    items.push(...page.items);
    if (!page.next_cursor) return { ...page, items };
    cursor = page.next_cursor;
  }
}
