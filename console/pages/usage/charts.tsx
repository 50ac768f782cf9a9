/** The charts of the usage. */

import { dollars } from "../../parts/amounts";
import { Chart } from "../../parts/chart";
import { span } from "../../parts/time";
import { bars, meanWait, percent, reason, short, type TenantUsage } from "./figures";

interface Shown {
  usage: TenantUsage;
  /** What the bars are: `Day`, `Agent`. */
  group: string;
}

function isTime(usage: TenantUsage): boolean {
  return usage.by === "day" || usage.by === "hour";
}

export function TokenChart({ usage, group }: Shown) {
  const { tokens } = usage.total;
  return (
    <Chart
      title="Tokens"
      says={
        tokens.total
          ? `${short(tokens.total)} tokens; ${percent(tokens.cached_input, tokens.cached_input + tokens.fresh_input)} of the input came from the provider's cache.`
          : "No model was asked in this time."
      }
      of={group}
      isTime={isTime(usage)}
      series={["New input", "Cached input", "Output"]}
      bars={tokens.total ? bars(usage, ({ tokens: of }) => [of.fresh_input, of.cached_input, of.output], 3) : []}
      said={short}
      exactly={(count) => count.toLocaleString("en")}
    />
  );
}

export function CostChart({ usage, group }: Shown) {
  const { cost } = usage.total;
  const known = cost.models_usd !== null || cost.estimated_aws_usd !== null;
  const isModel = usage.by === "model";
  return (
    <Chart
      title="Cost"
      says={
        known
          ? `${dollars(cost.models_usd ?? 0)} for models${cost.models_usd === null ? " (of some the price is not known)" : ""}, ${cost.estimated_aws_usd === null ? "AWS not known" : `${dollars(cost.estimated_aws_usd)} for AWS (estimated)`}.`
          : "The prices of these models are unknown, so there is no cost to show."
      }
      of={group}
      isTime={isTime(usage)}
      series={isModel ? ["Models"] : ["Models", "AWS"]}
      bars={known ? bars(usage, ({ cost: of }) => (isModel ? [of.models_usd] : [of.models_usd, of.estimated_aws_usd]), isModel ? 1 : 2) : []}
      said={dollars}
    />
  );
}

/** How runs ended: the reasons of a tenant, and only the kinds of end of one person. */
export function EndsChart({ usage }: Shown) {
  const { runs } = usage.total.work;
  const ended = usage.total.runs_ended ?? { completed: runs.completed, failed: runs.failed, cancelled: runs.cancelled };
  const found = Object.entries(ended).filter(([, count]) => count > 0);
  const all = found.reduce((sum, [, count]) => sum + count, 0);
  return (
    <Chart
      title="How runs ended"
      says={all ? `${all} ended; ${percent(runs.goal_met, all)} met their goal, ${percent(runs.unaided, all)} were completed without a person's answer.` : "No run ended in this time."}
      of="End"
      series={["Runs"]}
      bars={found.sort((one, other) => other[1] - one[1]).map(([name, count]) => ({ label: reason(name), values: [count] }))}
      said={String}
    />
  );
}

export function WaitChart({ usage, group }: Shown) {
  const mean = meanWait(usage.total.work);
  return (
    <Chart
      title="Waiting for people"
      says={mean === null ? "No session waited for a person in this time." : `A question was open for ${span(mean)} on average.`}
      of={group}
      isTime={isTime(usage)}
      series={["On average"]}
      bars={mean === null ? [] : bars(usage, ({ work }) => [(work && meanWait(work)) ?? 0], 1)}
      said={span}
    />
  );
}

export function PlanChart({ usage, group }: Shown) {
  const { plans } = usage.total.work;
  const open = (created: number, completed: number) => Math.max(0, created - completed);
  return (
    <Chart
      title="Plans"
      says={plans.created || plans.completed ? `${plans.created} made, ${plans.completed} completed: ${percent(plans.completed, plans.created)}.` : "No plan was made in this time."}
      of={group}
      isTime={isTime(usage)}
      series={["Completed", "Not completed yet"]}
      bars={
        plans.created || plans.completed
          ? bars(usage, ({ work }) => (work ? [work.plans.completed, open(work.plans.created, work.plans.completed)] : [0, 0]), 2)
          : []
      }
      said={String}
    />
  );
}
