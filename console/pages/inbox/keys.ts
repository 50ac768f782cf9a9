/**
 * The list by keyboard: j or down and k or up go through it, x ticks, Enter opens. They hold while the focus is in the
 * inbox and not in a field, so they are in nobody's way (WCAG 2.2, 2.1.4).
 */

export function byKeys(event: KeyboardEvent): void {
  const at = event.target as HTMLElement;
  if (event.metaKey || event.ctrlKey || event.altKey || at.matches("textarea, select, input:not([type=checkbox])")) return;
  const inside = event.currentTarget as HTMLElement;
  const links = [...inside.querySelectorAll<HTMLElement>(".waiting a.open")];
  const isInList = at.closest(".waiting") !== null || at.matches("h1");
  const now = links.findIndex((each) => each.closest("li")!.contains(at));
  const arrow = isInList && { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const step = arrow || { j: 1, k: -1 }[event.key];
  if (step) {
    links[Math.max(0, Math.min(links.length - 1, now === -1 && step < 0 ? 0 : now + step))]?.focus();
    event.preventDefault();
  } else if (event.key === "x" && now !== -1) {
    links[now]!.closest("li")!.querySelector<HTMLElement>("input[type=checkbox]")?.click();
    event.preventDefault();
  }
}
