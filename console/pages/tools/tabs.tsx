/** The three pages of what agents can do: tools, servers that have some, and their secrets. */

import { Tabs } from "../../parts/tabs";
import { may } from "../../sign-in/tokens";

/** Members see tools alone. */
export function ToolTabs() {
  if (!may("admin")) return null;
  return <Tabs label="Tools and where they come from" of={[["tools", "Tools"], ["servers", "MCP servers"], ["secrets", "Secrets"]]} />;
}
