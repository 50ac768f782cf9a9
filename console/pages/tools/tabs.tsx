/** The three pages of what agents can do: tools, servers that have some, and their secrets. */

import { path, to } from "../../navigation/places";
import { may } from "../../sign-in/tokens";

const TABS = [
  ["tools", "Tools"],
  ["servers", "MCP servers"],
  ["secrets", "Secrets"],
] as const;

/** Members see tools alone. */
export function ToolTabs() {
  if (!may("admin")) return null;
  return (
    <nav class="tabs" aria-label="Tools and where they come from">
      {TABS.map(([place, title]) => (
        <a key={place} href={to(place)} aria-current={path.value[0] === place ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
