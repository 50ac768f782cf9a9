/** Which release this is, and what it allows the tenant. */

import { get } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { EVERY } from "../../live/how-often";
import { useEvery } from "../../live/watch";
import { Freshness } from "../../parts/fresh";
import { Ago } from "../../parts/time";
import { visible } from "../../parts/words";

type DeploymentHealth = Shapes["DeploymentHealth"];

type Scan = NonNullable<DeploymentHealth["recovery"]["last_scan"]>;

const LIMITS: Record<keyof DeploymentHealth["limits"], string> = {
  starts_per_minute: "starts a minute",
  open_sessions: "open sessions",
  requests_per_second: "requests a second",
  long_polls: "long polls",
  tokens_per_hour: "tokens an hour",
};

/** In the order in which they are said. `looked` is no deed. */
const DID: Record<Exclude<keyof Scan, "ended_at" | "looked">, string> = {
  started: "started",
  restarted: "restarted",
  woken: "woken",
  unreadable: "cannot be read",
  put_off: "could not be read before and are looked at later",
  left: "left for the next look",
  unread: "parts of the index left for the next look",
  unanswered: "requests that AWS did not answer",
};

export function Deployment() {
  const live = useEvery("deployment", (signal) => get<DeploymentHealth>("/v1/admin/health", undefined, signal), EVERY.deployment);
  const found = live.value.value;
  return (
    <section aria-labelledby="deployment">
      <h2 id="deployment">This deployment</h2>
      <Freshness of={live} />
      {found && (
        <dl>
          <dt>Environment</dt>
          <dd>{visible(found.environment)}</dd>
          <dt>Release</dt>
          <dd>{visible(found.release || "has no name")}</dd>
          <dt>Schema</dt>
          <dd>
            reads version {found.schema.reads}, writes {found.schema.writes}
          </dd>
          <dt>Audit trail</dt>
          <dd>{found.audit.recorded ? "is recorded" : "is not recorded"}</dd>
          <dt>Limits</dt>
          <dd>{listed(LIMITS, found.limits, null) || "none"}</dd>
          <dt>Recovery</dt>
          <dd>
            <Recovery of={found.recovery} />
          </dd>
        </dl>
      )}
    </section>
  );
}

/** Sessions that stand still are looked for each minute. */
function Recovery({ of: { last_scan: last, late } }: { of: DeploymentHealth["recovery"] }) {
  const did = last && listed(DID, last, 0);
  return (
    <>
      {last ? (
        <>
          looked <Ago at={last.ended_at} />
          {did ? `: ${did}` : ", found nothing to do"}
        </>
      ) : (
        "has not looked yet"
      )}
      {late && (
        <strong class="not-done">
          {" "}
          It is late: it should run each minute. Until it does, interrupted sessions stand still. An operator has to look at it.
        </strong>
      )}
    </>
  );
}

/** Numbers with their words, but for those that are `unsaid`. */
function listed<Name extends string>(words: Record<Name, string>, numbers: Record<Name, number | null>, unsaid: 0 | null): string {
  return (Object.keys(words) as Name[])
    .filter((name) => numbers[name] !== unsaid)
    .map((name) => `${numbers[name]!.toLocaleString("en")} ${words[name]}`)
    .join(", ");
}
