/** What a folder shows: its files, and the folders below it with the sums of what they hold. */

import { PRIVATE, split } from "../../api/file-names";
import type { StoredFile } from "../../api/files";

export interface Entry {
  /** Of a folder it ends with `/`. */
  path: string;
  name: string;
  bytes: number;
  modifiedAt: string;
  /** Of a folder; undefined: it is a file. */
  files?: number;
}

/** Folders first, each by name. */
export function entriesOf(folder: string, files: readonly StoredFile[]): Entry[] {
  const folders = new Map<string, Entry>();
  const here: Entry[] = [];
  for (const { path, bytes, modified_at } of files) {
    const rest = path.slice(folder.length);
    const slash = rest.indexOf("/");
    if (slash < 0) {
      here.push({ path, name: rest, bytes, modifiedAt: modified_at });
      continue;
    }
    const name = rest.slice(0, slash + 1);
    const known = folders.get(name) ?? { path: folder + name, name, bytes: 0, modifiedAt: modified_at, files: 0 };
    known.bytes += bytes;
    known.files = (known.files ?? 0) + 1;
    if (modified_at > known.modifiedAt) known.modifiedAt = modified_at;
    folders.set(name, known);
  }
  const byName = (one: Entry, other: Entry) => one.name.localeCompare(other.name, "en", { numeric: true });
  return [...[...folders.values()].sort(byName), ...here.sort(byName)];
}

/** The folders that lead to a path, from the outermost on, each with its own path. */
export function wayTo(path: string): [path: string, name: string][] {
  const [folder] = split(path);
  const names = folder.split("/").slice(0, -1);
  return names.map((name, at) => {
    const own = `${names.slice(0, at + 1).join("/")}/`;
    return [own, own === PRIVATE ? "My own files" : name];
  });
}
