/** What was decided, newest question first: what, by whom, and when. */

import { useEffect, useState } from "preact/hooks";

import { get } from "../../api/request";
import type { Intervention, Page } from "../../api/shapes";
import { to } from "../../navigation/places";
import { Ago } from "../../parts/time";
import { sayError } from "../../parts/toasts";
import { Outcome } from "./decision";
import { Subject } from "./waiting";
import { title } from "./wording";

export function History() {
  const [read, setRead] = useState<{ items: Intervention[]; next: string | null }>();
  async function more(): Promise<void> {
    const query = { state: "all", limit: 50, cursor: read?.next };
    const page = await get<Page<Intervention>>("/v1/interventions", query);
    const decided = page.items.filter((each) => each.state !== "pending");
    setRead({ items: [...(read?.items ?? []), ...decided], next: page.next_cursor });
  }
  useEffect(() => void more().catch(sayError), []);
  if (!read) return <p class="hint">Reading…</p>;
  return (
    <>
      {read.items.length === 0 && <p class="empty">Nothing was decided yet.</p>}
      <ul class="waiting decided">
        {read.items.map((each) => (
          <li key={each.intervention_id} class="row">
            <a class="open" href={`${to("inbox", each.session_id, each.intervention_id)}?show=decided`}>
              <span class="what">{title(each)}</span>
              <Subject of={each} />
              <span class="when">
                <Outcome of={each} /> {each.resolved_at && <Ago at={each.resolved_at} />}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {read.next && (
        <button type="button" onClick={() => void more().catch(sayError)}>
          Show more
        </button>
      )}
    </>
  );
}
