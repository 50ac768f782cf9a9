/** Pages that belong together, as tabs above each of them. */

import { path, to } from "../navigation/places";

export function Tabs({ label, of }: { label: string; of: readonly (readonly [place: string, title: string])[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {of.map(([place, title]) => (
        <a key={place} href={to(place)} aria-current={path.value[0] === place ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
