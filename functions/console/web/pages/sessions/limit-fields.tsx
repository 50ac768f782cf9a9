/** Limits of a new session. What is left empty is the agent's, else the deployment's. */

import type { Shapes } from "../../api/shapes";

type Limits = Pick<Shapes["StartSession"], "max_steps" | "token_budget" | "cost_budget_usd" | "review_every">;

const FIELDS: readonly { name: keyof Limits; label: string; least: number; step?: string }[] = [
  { name: "max_steps", label: "Steps at most", least: 1 },
  { name: "token_budget", label: "Tokens at most", least: 1 },
  { name: "cost_budget_usd", label: "US dollars at most", least: 0.000001, step: "any" },
  { name: "review_every", label: "Ask a person every … turns (0: never)", least: 0 },
];

export function limitsOf(form: Pick<FormData, "get">): Limits {
  const limits: Limits = {};
  for (const { name } of FIELDS) {
    const text = String(form.get(name) ?? "").trim();
    if (text) limits[name] = Number(text);
  }
  return limits;
}

export function LimitFields() {
  return (
    <details>
      <summary>Limits</summary>
      <p class="hint">What is left empty is as the agent has it, else as this deployment has it.</p>
      <div class="limits">
        {FIELDS.map(({ name, label, least, step }) => (
          <label key={name}>
            {label}
            <input type="number" name={name} min={least} step={step ?? "1"} />
          </label>
        ))}
      </div>
    </details>
  );
}
