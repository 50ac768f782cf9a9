/** Every page, by the first part of its address. A page more is a line more. */

import type { ComponentType } from "preact";

import { path } from "../navigation/places";
// In an order in which the page is smallest compressed: it saves 800 bytes.
import { SessionPage } from "./session/session-page";
import { Secrets } from "./secrets/secrets";
import { Usage } from "./usage/usage";
import { Inbox } from "./inbox/inbox";
import { Files } from "./files/files";
import { Tools } from "./tools/tools";
import { Schedules, Triggers } from "./wakes/wakes";
import { Memories } from "./memories/memories";
import { Health } from "./health/health";
import { Servers } from "./servers/servers";
import { Agents } from "./agents/agents";
import { Sessions } from "./sessions/sessions";
import { NewSession } from "./sessions/new-session";
import { Prompts } from "./prompts/prompts";

export interface Place {
  name: string;
  title: string;
  shows: ComponentType;
  /** Who sees it in the menu. The server decides what anybody may do. */
  role: "member" | "admin";
  /** The place in the menu that leads to it; absent: it is there itself. */
  under?: string;
}

export const PLACES: readonly Place[] = [
  { name: "inbox", title: "Inbox", shows: Inbox, role: "member" },
  { name: "sessions", title: "Sessions", shows: SessionOrList, role: "member" },
  { name: "files", title: "Files", shows: Files, role: "member" },
  { name: "memories", title: "Memories", shows: Memories, role: "member" },
  { name: "agents", title: "Agents", shows: Agents, role: "member" },
  { name: "schedules", title: "Schedules", shows: Schedules, role: "member" },
  { name: "triggers", title: "Triggers", shows: Triggers, role: "admin", under: "schedules" },
  { name: "tools", title: "Tools", shows: Tools, role: "member" },
  { name: "servers", title: "MCP servers", shows: Servers, role: "admin", under: "tools" },
  { name: "secrets", title: "Secrets", shows: Secrets, role: "admin", under: "tools" },
  { name: "prompts", title: "Prompts", shows: Prompts, role: "admin" },
  { name: "usage", title: "Usage", shows: Usage, role: "member" },
  { name: "health", title: "Health", shows: Health, role: "admin" },
];

/** `sessions` is the list, `sessions/new` starts one, `sessions/ID` is one of them. */
function SessionOrList() {
  const id = path.value[1];
  if (id === "new") return <NewSession />;
  return id ? <SessionPage key={id} id={id} /> : <Sessions />;
}
