/** Who did what in the tenant, newest first. */

import { get } from "../../api/request";
import type { Page, Shapes } from "../../api/shapes";
import { useEvery } from "../../live/watch";
import { narrow, query, to } from "../../navigation/places";
import { Freshness } from "../../parts/fresh";
import { cursor, Pager } from "../../parts/pager";
import { Table } from "../../parts/table";
import { Ago } from "../../parts/time";
import { Text, visible } from "../../parts/words";
import { way } from "../inbox/wording";

type AuditRecord = Shapes["AuditRecord"];

const FILTERS = [
  { name: "action", title: "Action", hint: "session.start" },
  { name: "user", title: "Person", hint: "as the sign-in names them" },
  { name: "session_id", title: "Session", hint: "its id" },
];
const OUTCOMES: Record<AuditRecord["outcome"], string> = {
  begun: "begun; its end is not known",
  done: "done",
  refused: "refused",
  failed: "failed",
};

export function AuditTrail() {
  const asked: Record<string, string | undefined> = { cursor: cursor() };
  for (const { name } of FILTERS) asked[name] = query.value.get(name) ?? undefined;
  const live = useEvery(`audit.${JSON.stringify(asked)}`, (signal) => get<Page<AuditRecord>>("/v1/audit", asked, signal));
  const found = live.value.value;
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">Who did what</h2>
      <div class="filters">
        {FILTERS.map(({ name, title, hint }) => (
          <label key={name}>
            {title}
            <input
              value={asked[name] ?? ""}
              placeholder={hint}
              onChange={(event) => narrow({ [name]: event.currentTarget.value.trim(), after: "" })}
            />
          </label>
        ))}
      </div>
      <Freshness of={live} />
      {found?.items.length === 0 && <p class="empty">There is no such record.</p>}
      {found && found.items.length > 0 && (
        <Table
          label="Who did what"
          rows={found.items}
          name={(each) => each.audit_id}
          columns={[
            { title: "When", cell: (each) => <Ago at={each.at} /> },
            { title: "Who", cell: (each) => <code>{visible(each.who)}</code> },
            { title: "Action", cell: (each) => each.action },
            {
              title: "On what",
              cell: ({ details: { session_id, ...others } }) => (
                <>
                  {session_id && <a href={to("sessions", String(session_id))}>a session</a>}{" "}
                  <Text>{Object.entries(others).map(([name, value]) => `${name} ${value}`).join(", ")}</Text>
                </>
              ),
            },
            { title: "End", cell: (each) => OUTCOMES[each.outcome] + (each.code ? ` (${each.code})` : "") },
            { title: "From", cell: (each) => visible(each.source) + way(each.via) },
          ]}
        />
      )}
      <Pager next={found?.next_cursor} />
    </section>
  );
}
