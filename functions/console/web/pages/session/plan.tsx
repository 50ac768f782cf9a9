/** The plan as it fills up: each step with its mark, what came of it, and the calls that show it. */

import type { Event, Plan, PlanStep } from "../../api/shapes";
import { Text, visible } from "../../parts/words";

const MARKS: Record<PlanStep["status"], [string, string]> = {
  pending: ["○", "to do"],
  in_progress: ["◐", "at work"],
  completed: ["✔", "done"],
  failed: ["✘", "failed"],
  skipped: ["–", "skipped"],
};

interface Shown {
  plan: Plan;
  events: readonly Event[];
  onChoose: (key: string) => void;
}

export function PlanSteps({ plan, events, onChoose }: Shown) {
  return (
    <>
      <p class="hint">
        Version {plan.version}, {plan.status.replace(/_/g, " ")}
      </p>
      <ol class="steps">
        {plan.steps.map((step) => (
          <li key={step.step_number} value={step.step_number} class={step.status}>
            <span class="mark">
              <span aria-hidden="true">{MARKS[step.status][0]}</span> {MARKS[step.status][1]}
            </span>
            <div>
              <Text>{step.description}</Text> {step.tool && <code>{visible(step.tool)}</code>}
              {step.requires_permission && <span class="hint"> a person is asked first</span>}
              {step.result && (
                <p class="result">
                  <Text>{step.result}</Text>
                </p>
              )}
              {step.evidence.length > 0 && (
                <p class="evidence">
                  {step.evidence.map((id, index) => (
                    <button key={id} type="button" class="quiet" onClick={() => choose(id)}>
                      Evidence {index + 1}
                      {nameOf(id)}
                    </button>
                  ))}
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
      {plan.risks.length > 0 && (
        <p class="hint">
          Risks:{" "}
          {plan.risks.map((each) => (
            <>
              <Text>{each}</Text>{" "}
            </>
          ))}
        </p>
      )}
    </>
  );

  function requested(id: string): Event | undefined {
    return events.find(({ type, data }) => type === "tool.requested" && data["call_id"] === id);
  }

  function nameOf(id: string): string {
    const name = requested(id)?.data["name"];
    return typeof name === "string" ? `: ${visible(name)}` : "";
  }

  function choose(id: string): void {
    const event = requested(id);
    if (!event) return;
    onChoose(`${event.seq}`);
    document.querySelector(".trace")?.scrollIntoView({ block: "start" });
  }
}
