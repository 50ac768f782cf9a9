/** The versions that the plan has had, each with what it changed of the one before. */

import { useEffect, useState } from "preact/hooks";

import { at, get } from "../../api/request";
import type { Plan, Shapes } from "../../api/shapes";
import { changes } from "../../parts/changes";
import { sayError } from "../../parts/toasts";
import { Ago } from "../../parts/time";
import { Text } from "../../parts/words";

/** `now`: the version that the session has, so that a new one is read when it comes. */
export function PlanVersions({ sessionId, now }: { sessionId: string; now: number }) {
  const [isOpen, setOpen] = useState(false);
  const [versions, setVersions] = useState<Plan[]>();
  useEffect(() => {
    if (isOpen) all(sessionId).then(setVersions, sayError);
  }, [isOpen, now]);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Versions of the plan</summary>
      {versions?.map((each, index) => (
        <section key={each.version} class="version" aria-label={`Version ${each.version}`}>
          <p>
            <strong>Version {each.version}</strong> <Ago at={each.created_at} />
          </p>
          <Changes before={index ? linesOf(versions[index - 1]!) : []} after={linesOf(each)} />
        </section>
      ))}
    </details>
  );
}

function Changes({ before, after }: { before: string[]; after: string[] }) {
  return (
    <ul class="changes">
      {changes(before, after).flatMap(({ kind, lines }) =>
        lines.map((line) => (
          <li class={kind}>
            <span class="sign">{kind === "added" ? "+ new: " : kind === "removed" ? "− gone: " : ""}</span>
            <Text>{line}</Text>
          </li>
        )),
      )}
    </ul>
  );
}

function linesOf(plan: Plan): string[] {
  return plan.steps.map((each) => `${each.description}${each.tool ? ` (${each.tool})` : ""}`);
}

async function all(sessionId: string): Promise<Plan[]> {
  const versions: Plan[] = [];
  let cursor: string | null = "0";
  while (cursor !== null) {
    const page: Shapes["Plans"] = await get(at("/v1/sessions/{}/plan", sessionId), { cursor });
    versions.push(...page.versions);
    cursor = page.next_cursor;
  }
  return versions;
}
