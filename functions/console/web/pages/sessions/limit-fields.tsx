/** Limits of a new session. What is left empty is the agent's, else the deployment's. */

import type { Shapes } from "../../api/shapes";

type Limits = Pick<Shapes["StartSession"], "max_steps" | "token_budget" | "cost_budget_usd" | "review_every">;

const FIELDS: readonly { name: keyof Limits; label: string; least: number; step?: string }[] = [
  { name: "max_steps", label: "Steps at most", least: 1 },
  { name: "token_budget", label: "Tokens at most", least: 1 },
  { name: "cost_budget_usd", label: "US dollars at most", least: 0.000001, step: "any" },
  { name: "review_every", label: "Ask a person every … turns (0: never)", least: 0 },
];

/** What was typed, by the limit's name. */
export type Typed = Partial<Record<keyof Limits, string>>;

export function limitsOf(typed: Typed): Limits {
  const limits: Limits = {};
  for (const { name } of FIELDS) if (typed[name]) limits[name] = Number(typed[name]);
  return limits;
}

export function LimitFields({ typed, write }: { typed: Typed; write: (typed: Typed) => void }) {
  return (
    <details>
      <summary>Limits</summary>
      <p class="hint">What is left empty is the agent's, else the deployment's.</p>
      <div class="limits">
        {FIELDS.map(({ name, label, least, step }) => (
          <label key={name}>
            {label}
            <input
              type="number"
              min={least}
              step={step ?? "1"}
              value={typed[name]}
              onInput={(event) => write({ ...typed, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
    </details>
  );
}
