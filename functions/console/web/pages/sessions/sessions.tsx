/** The sessions of the tenant, newest first. */

import { get } from "../../api/request";
import type { Page, Session } from "../../api/shapes";
import { useLive } from "../../live/watch";
import { to } from "../../navigation/places";
import { Freshness } from "../../parts/fresh";
import { Ago } from "../../parts/time";
import { Text } from "../../parts/words";

const EVERY_MS = 5_000;

export function Sessions() {
  const live = useLive<Session[]>("sessions", async (_, signal) => ({
    value: (await get<Page<Session>>("/v1/sessions", {}, signal)).items,
    again: EVERY_MS,
  }));
  const found = live.value.value;
  return (
    <>
      <h1 tabIndex={-1}>Sessions</h1>
      <Freshness of={live} />
      {found?.length === 0 && <p class="empty">Nobody has started a session yet.</p>}
      <ul class="cards">
        {found?.map((each) => (
          <li key={each.session_id} class="card">
            <a href={to("sessions", each.session_id)}>
              <Text>{each.goal || "No goal yet"}</Text>
            </a>{" "}
            {each.state} <Ago at={each.created_at} />
          </li>
        ))}
      </ul>
    </>
  );
}
