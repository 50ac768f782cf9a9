/** Every page, by the first part of its address. A page more is a line more. */

import type { ComponentType } from "preact";

import { path } from "../navigation/places";
import { Inbox } from "./inbox/inbox";
import { SessionPage } from "./session/session-page";
import { Sessions } from "./sessions/sessions";

export interface Place {
  name: string;
  title: string;
  shows: ComponentType;
  /** Who sees it in the menu. The server decides what anybody may do. */
  role: "member" | "admin";
}

export const PLACES: readonly Place[] = [
  { name: "inbox", title: "Inbox", shows: Inbox, role: "member" },
  { name: "sessions", title: "Sessions", shows: SessionOrList, role: "member" },
];

/** `sessions` is the list, `sessions/ID` one of them. */
function SessionOrList() {
  const id = path.value[1];
  return id ? <SessionPage key={id} id={id} /> : <Sessions />;
}
