/** Whether this person is known to have asked for the call: they started the session. More the server alone knows. */

import { useEffect, useState } from "preact/hooks";

import { at, get } from "../../api/request";
import type { Intervention, Snapshot } from "../../api/shapes";
import { me } from "../../sign-in/tokens";

export function useHasAsked(one: Intervention): boolean {
  const [hasAsked, setHasAsked] = useState(false);
  useEffect(() => {
    if (!one.approver_must_differ) return;
    get<Snapshot>(at("/v1/sessions/{}", one.session_id)).then(
      ({ session }) => setHasAsked(session.created_by === me.value?.user),
      () => undefined, // of somebody's private session nothing else is seen
    );
  }, [one.intervention_id, one.approver_must_differ]);
  return hasAsked;
}
