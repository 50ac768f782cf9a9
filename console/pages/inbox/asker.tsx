/** The session that a question is from: who asked for what. Each is read once. */

import { useEffect, useState } from "preact/hooks";

import { at, get } from "../../api/request";
import type { Session, Snapshot } from "../../api/shapes";
import { Text } from "../../parts/words";
import { me } from "../../sign-in/tokens";
import { named } from "../sessions/goal-text";

const known = new Map<string, Promise<Session | undefined>>();

/** Undefined: of somebody's private session nothing else is seen. */
function sessionOf(id: string): Promise<Session | undefined> {
  if (!known.has(id)) {
    const read = get<Snapshot>(at("/v1/sessions/{}", id)).then(
      ({ session }) => session,
      () => void known.delete(id),
    );
    known.set(id, read);
  }
  return known.get(id)!;
}

/** Whether this person started the session. */
export async function isOwn(id: string): Promise<boolean> {
  return (await sessionOf(id))?.created_by === me.value?.user;
}

/** Whether they are known to have asked for the call. More the server alone knows. */
export function useHasAsked(id: string): boolean {
  const [is, setIs] = useState(false);
  useEffect(() => void isOwn(id).then(setIs), [id]);
  return is;
}

export function Who({ id }: { id: string }) {
  const [session, setSession] = useState<Session>();
  useEffect(() => void sessionOf(id).then(setSession), [id]);
  if (!session) return null;
  return (
    <>
      <Text>{session.created_by}</Text> asked: <Text>{named(session)}</Text>
    </>
  );
}
