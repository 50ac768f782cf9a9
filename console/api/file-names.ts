/** Names of files, and the one rule for those that exist. */

/** What is done with a file whose name exists: both stay, the old one is replaced, or the new one stays out. */
export type Rule = "both" | "replace" | "skip";

/** How the paths of somebody's own files begin. */
export const PRIVATE = "~/";

export function fileAddress(path: string): string {
  return `/v1/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** `a/b.md`: `a/` and `b.md`. */
export function split(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf("/") + 1;
  return [path.slice(0, at), path.slice(at)];
}

/** As a new file is called: in the one spelling that the API gives a name (`spelled` in `untrusted/path.py`). */
export function pathOf(folder: string, name: string): string {
  const clean = folder.trim().replace(/^\/+|\/+$/g, "");
  const path = (clean ? `${clean}/${name}` : name).replace(/\p{Zs}/gu, " ").replace(/[\u061c\u200e\u200f]/g, "");
  const parts = path.normalize("NFC").split("/");
  return parts.map((part) => part.replace(/^ +| +$/g, "")).join("/").replace(/^~\$/, "_$$");
}

/** `notes.md`, 2: `notes (2).md`. */
export function numbered(path: string, number: number): string {
  const [folder, name] = split(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${folder}${name.slice(0, dot)} (${number})${name.slice(dot)}` : `${path} (${number})`;
}

/** Where a file goes by the rule; undefined: nowhere. */
export async function placeOf(
  path: string,
  rule: Rule,
  isThere: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  if (rule === "replace" || !(await isThere(path))) return path;
  if (rule === "skip") return undefined;
  let number = 2;
  while (await isThere(numbered(path, number))) number += 1;
  return numbered(path, number);
}
