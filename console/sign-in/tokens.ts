/**
 * Who has signed in here. A sign-in lives as long as a tab: it is kept in `sessionStorage`, and a new tab asks those
 * that are open. So nothing stays on a machine whose browser was closed.
 */

import { drafts } from "../drafts/drafts";
import { byRenewal, revoke } from "./code-flow";
import { Tab } from "./tab";

const ASK_MS = 150;

export const tab = new Tab({
  storage: sessionStorage,
  others: new BroadcastChannel("acta.sign-in"),
  locks: navigator.locks,
  answers: () => new Promise((done) => setTimeout(done, ASK_MS)),
  drafts,
  renew: byRenewal,
  revoke,
});
export const { me, isOver } = tab;

/** Whether that person has the role; `admin` may do all that members may. */
export function may(role: string): boolean {
  const roles = me.value?.roles ?? [];
  return roles.includes(role) || (role === "member" && roles.includes("admin"));
}
