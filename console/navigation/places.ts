/** The places of the page, each an address below `/console`, and going from one to another. */

import { signal } from "@preact/signals";

export const ROOT = "/console";

/** What follows `/console/`, part by part, as text. */
export const path = signal(parts(location.pathname));
export const query = signal(new URLSearchParams(location.search));
export const place = (): string => path.value[0] || "inbox";

/** The address of a place, such as `to("sessions", id)`. */
export function to(...names: string[]): string {
  return [ROOT, ...names.map(encodeURIComponent)].join("/");
}

export function go(address: string, options: { replace?: boolean } = {}): void {
  if (options.replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  look();
  if (!options.replace) {
    scrollTo(0, 0);
    // Whoever hears the page is told where they are now.
    requestAnimationFrame(() => document.querySelector<HTMLElement>("main h1")?.focus());
  }
}

/** The address of this place with other values after `?`. Empty values go. */
export function narrowed(changes: Record<string, string>): string {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  return text ? `${location.pathname}?${text}` : location.pathname;
}

/** Goes there, without a step of the history. */
export function narrow(changes: Record<string, string>): void {
  go(narrowed(changes), { replace: true });
}

export function beginNavigation(): void {
  addEventListener("popstate", look);
  document.addEventListener("click", (event) => {
    const link = (event.target as Element | null)?.closest?.("a");
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || !link.pathname.startsWith(`${ROOT}/`)) return;
    event.preventDefault();
    if (link.pathname + link.search !== location.pathname + location.search) go(link.pathname + link.search);
  });
}

function look(): void {
  path.value = parts(location.pathname);
  query.value = new URLSearchParams(location.search);
}

function parts(pathname: string): string[] {
  return pathname.slice(ROOT.length + 1).split("/").filter(Boolean).map(decoded);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
