/** Limits of a new session. For empty fields the agent's limits apply, or else the deployment's. */

import type { Shapes } from "../../api/shapes";

type Limits = Pick<Shapes["StartSession"], "max_steps" | "token_budget" | "cost_budget_usd" | "review_every">;

const FIELDS: readonly { name: keyof Limits; label: string; pattern?: string }[] = [
  { name: "max_steps", label: "Turns at most" },
  { name: "token_budget", label: "Tokens at most" },
  { name: "cost_budget_usd", label: "US dollars at most", pattern: "[0-9]*[.,]?[0-9]+" },
  { name: "review_every", label: "Ask a person every … turns (0: never)" },
];

/** What was typed, by the limit's name. */
export type Typed = Partial<Record<keyof Limits, string>>;

export function limitsOf(typed: Typed): Limits {
  const limits: Limits = {};
  for (const { name } of FIELDS) if (typed[name]) limits[name] = Number(typed[name]!.replace(",", "."));
  return limits;
}

export function LimitFields({ typed, write }: { typed: Typed; write: (typed: Typed) => void }) {
  return (
    <details>
      <summary>Limits</summary>
      <p class="hint">For empty fields the agent's limits apply, or else the deployment's.</p>
      <div class="limits">
        {FIELDS.map(({ name, label, pattern }) => (
          <label key={name}>
            {label}
            <input
              // A field for numbers takes 1,5 for 15 where the browser's language writes 1.5.
              inputMode="decimal"
              pattern={pattern ?? "[0-9]+"}
              value={typed[name]}
              onInput={(event) => write({ ...typed, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
    </details>
  );
}
