/** Light or dark: as the system has it, or as the person chose in this browser. */

import { signal } from "@preact/signals";

const KEPT = "acta.theme";

export const theme = signal(localStorage.getItem(KEPT) ?? "");

show(theme.value);

export function chooseTheme(name: string): void {
  theme.value = name;
  show(name);
  if (name) localStorage.setItem(KEPT, name);
  else localStorage.removeItem(KEPT);
}

function show(name: string): void {
  if (name) document.documentElement.dataset["theme"] = name;
  else delete document.documentElement.dataset["theme"];
}
