/** One session. */

import { get, at } from "../../api/request";
import type { Snapshot } from "../../api/shapes";
import { useLive } from "../../live/watch";
import { Freshness } from "../../parts/fresh";
import { Json } from "../../parts/json";

export function SessionPage({ id }: { id: string }) {
  const live = useLive<Snapshot>(`session.${id}`, async (_, signal) => ({
    value: await get<Snapshot>(at("/v1/sessions/{}", id), {}, signal),
    again: 2_000,
  }));
  return (
    <>
      <h1 tabIndex={-1}>Session</h1>
      <Freshness of={live} />
      <Json value={live.value.value} label="The session" />
    </>
  );
}
