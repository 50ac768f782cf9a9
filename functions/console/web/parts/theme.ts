/** Light or dark: as the system has it, or as the person chose in this browser. */

import { effect, signal } from "@preact/signals";

const KEPT = "acta.theme";

export const theme = signal(localStorage.getItem(KEPT) ?? "");

effect(() => {
  if (theme.value) document.documentElement.dataset["theme"] = theme.value;
  else delete document.documentElement.dataset["theme"];
});

export function chooseTheme(name: string): void {
  theme.value = name;
  if (name) localStorage.setItem(KEPT, name);
  else localStorage.removeItem(KEPT);
}
