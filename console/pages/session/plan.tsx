/** The plan as it fills up: each step with its mark, what came of it, and the calls that show it. */

import { useState } from "preact/hooks";

import type { Event, Plan, PlanStep, Session } from "../../api/shapes";
import { isOpen } from "../../parts/session-state";
import { Text, visible } from "../../parts/words";
import { isBegun, PlanEditor } from "./plan-editor";
import { PlanVersions } from "./plan-versions";

const MARKS: Record<PlanStep["status"], [string, string]> = {
  pending: ["○", "to do"],
  in_progress: ["◐", "at work"],
  completed: ["✔", "done"],
  failed: ["✘", "failed"],
  skipped: ["–", "skipped"],
};

interface OfPlan {
  session: Session;
  plan: Plan;
  events: readonly Event[];
  onChoose: (key: string) => void;
  onDone: () => void;
}

/** The plan as it is, its versions, and a way to correct it as long as the run is open. */
export function PlanSection({ session, plan, events, onChoose, onDone }: OfPlan) {
  const id = session.session_id;
  const [isEdited, setEdited] = useState(() => isBegun(id));
  return (
    <section aria-labelledby="plan">
      <h2 id="plan">Plan</h2>
      <PlanSteps plan={plan} events={events} onChoose={onChoose} />
      {isOpen(session) && (
        <p class="hint">
          {plan.status === "completed" || plan.status === "failed" ? (
            "It is closed and cannot be corrected."
          ) : (
            <button type="button" onClick={() => setEdited(true)}>
              Correct the plan …
            </button>
          )}
        </p>
      )}
      {isEdited && <PlanEditor sessionId={id} plan={plan} onClose={() => setEdited(false)} onDone={onDone} />}
      <PlanVersions sessionId={id} now={plan.version} />
    </section>
  );
}

interface Shown {
  plan: Plan;
  events: readonly Event[];
  onChoose: (key: string) => void;
}

function PlanSteps({ plan, events, onChoose }: Shown) {
  const isFailed = plan.steps.some((each) => each.status === "failed");
  return (
    <>
      <p class="hint">
        Version {plan.version}, {isFailed ? "a step failed" : plan.status.replace(/_/g, " ")}
        {plan.made_by_acta && ", made by Acta, because the agent made none"}
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
                      See call {index + 1}
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
    document.getElementById("trace")?.scrollIntoView({ block: "start" });
  }
}
