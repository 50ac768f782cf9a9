/** What the deployment is, whether the models can be asked, and who did what. For admins. */

import { useState } from "preact/hooks";

import { ask, get } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { EVERY } from "../../live/how-often";
import { useEvery } from "../../live/watch";
import { Freshness } from "../../parts/fresh";
import { Refusal } from "../../parts/refusal";
import { Table } from "../../parts/table";
import { useAct } from "../../parts/use-act";
import { visible } from "../../parts/words";
import { AuditTrail } from "./audit-trail";
import { Deployment } from "./deployment";

type ConfiguredModels = Shapes["ConfiguredModels"];
type CheckedKeys = Shapes["CheckedKeys"];

const KEYS: Record<ConfiguredModels["providers"][number]["key"], string> = {
  present: "is there",
  missing: "is missing",
  unreadable: "cannot be read",
  not_needed: "is not needed",
};
const CHECKED: Record<CheckedKeys["providers"][number]["status"], string> = {
  works: "works",
  refused: "is refused by the provider",
  missing: "is missing",
  unreachable: "unknown: the provider does not answer",
  unchecked: "was not checked",
};

export function Health() {
  return (
    <>
      <h1 tabIndex={-1}>Health</h1>
      <Deployment />
      <Models />
      <AuditTrail />
    </>
  );
}

function Models() {
  const live = useEvery("models", (signal) => get<ConfiguredModels>("/v1/models", undefined, signal), EVERY.models);
  const [checked, setChecked] = useState<CheckedKeys["providers"]>();
  const { isBusy, failure, act } = useAct();
  const found = live.value.value;

  const check = async () => setChecked((await ask<CheckedKeys>("POST", "/v1/models/check", { body: {} })).data.providers);

  return (
    <section aria-labelledby="models">
      <h2 id="models">Models and keys</h2>
      <Freshness of={live} />
      {found && (
        <>
          <p>
            Where nothing else is said, agents think with <code>{visible(found.default.model)}</code> of {visible(found.default.provider)}.
          </p>
          <Table
            label="Keys"
            rows={found.providers}
            name={(each) => each.provider}
            columns={[
              { title: "Provider", cell: (each) => visible(each.provider) },
              { title: "Its key", cell: (each) => KEYS[each.key] },
              {
                title: "Asked just now",
                cell: (each) => {
                  const said = checked?.find((one) => one.provider === each.provider);
                  return said ? CHECKED[said.status] : "";
                },
              },
            ]}
          />
          <Refusal error={failure} />
          <p class="acts">
            <button type="button" disabled={isBusy} onClick={() => void act(check)}>
              {isBusy ? "Wait …" : "Ask the providers whether the keys work"}
            </button>
          </p>
          <h3>Models in use</h3>
          <Table
            label="Models in use"
            rows={found.models}
            name={(each) => `${each.provider}/${each.model}`}
            columns={[
              { title: "Model", cell: (each) => visible(each.model) },
              { title: "Provider", cell: (each) => visible(each.provider) },
              {
                title: "Used by",
                cell: (each) => each.used_by.map((use) => visible(`${use.agent_id ?? "everybody else"} (${use.purpose})`)).join(", "),
              },
              {
                title: "Price",
                cell: ({ usd_per_million_tokens: price }) =>
                  price ? `$${price.input} in, $${price.output} out, a million tokens` : "not known",
              },
            ]}
          />
        </>
      )}
    </section>
  );
}
