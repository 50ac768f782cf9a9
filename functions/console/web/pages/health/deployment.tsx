/** Which release this is, and what it allows the tenant. */

import { get } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { useLive } from "../../live/watch";
import { Freshness } from "../../parts/fresh";
import { visible } from "../../parts/words";

type DeploymentHealth = Shapes["DeploymentHealth"];

const EVERY_MS = 60_000;
const LIMITS: Record<keyof DeploymentHealth["limits"], string> = {
  starts_per_minute: "starts a minute",
  open_sessions: "open sessions",
  requests_per_second: "requests a second",
  long_polls: "long polls",
  tokens_per_hour: "tokens an hour",
};

export function Deployment() {
  const live = useLive<DeploymentHealth>("deployment", async (_, signal) => ({
    value: await get<DeploymentHealth>("/v1/admin/health", undefined, signal),
    again: EVERY_MS,
  }));
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
          <dd>{limits(found) || "none"}</dd>
        </dl>
      )}
    </section>
  );
}

function limits(found: DeploymentHealth): string {
  return (Object.keys(LIMITS) as (keyof typeof LIMITS)[])
    .filter((name) => found.limits[name] !== null)
    .map((name) => `${found.limits[name]!.toLocaleString("en")} ${LIMITS[name]}`)
    .join(", ");
}
