/** A server as its form has it, and as it is sent. */

import type { Shapes } from "../../api/shapes";

export type Server = Shapes["McpServer"];
export type Listed = Shapes["ListedMcpTool"];
type Confirmed = Shapes["ConfirmedMcpTool"];

export interface Fields {
  name: string;
  url: string;
  seconds: string;
  /** The name of the secret; empty: none. */
  secret: string;
}

export function fieldsOf(server?: Server): Fields {
  const { name = "", url = "", timeout_seconds = 60, auth = null } = server ?? {};
  return { name, url, seconds: String(timeout_seconds), secret: auth && "secret" in auth ? auth.secret : "" };
}

/** Client credentials, which files and the API name. */
export function clientOf({ auth }: Pick<Server, "auth">) {
  return auth && "client_credentials" in auth ? auth.client_credentials : undefined;
}

/** As it is sent: what is not said is left out. */
export function sent(auth: Server["auth"]): unknown {
  return auth && JSON.parse(JSON.stringify(auth, (_, value: unknown) => value ?? undefined));
}

/** What an admin says of a tool that they confirm. */
export interface Wish {
  pin: string;
  confirmed_read: boolean;
  high_stakes: boolean;
  approver_role: string | null;
}

export function wishOf({ pin, confirmed_read, high_stakes, approver_role }: Confirmed): Wish {
  return { pin, confirmed_read, high_stakes, approver_role };
}

/** What is proposed for a tool: as it was confirmed before, else with a person's approval of each call. */
export function proposed({ pin, confirmed, annotations }: Listed): Wish {
  if (!confirmed) return { pin, confirmed_read: false, high_stakes: true, approver_role: null };
  return { ...wishOf(confirmed), pin, confirmed_read: confirmed.confirmed_read && annotations["readOnlyHint"] === true };
}
