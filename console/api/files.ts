/** Files of the tenant's storage, and putting some there. */

import { fileAddress, pathOf, placeOf, type Rule } from "./file-names";
import { ask, get, Refused } from "./request";
import type { Page, Shapes } from "./shapes";

export type StoredFile = Shapes["File"];
export type FileVersion = Shapes["FileVersion"];

const MOST_ATTEMPTS = 5;

/** The version that is the file now; undefined: it is deleted. */
export function presentOf(versions: readonly FileVersion[] = []): FileVersion | undefined {
  return versions.find((each) => each.current && !each.deletion);
}

async function exists(path: string): Promise<boolean> {
  const found = await get<Page<StoredFile>>("/v1/files", { prefix: path, limit: 1 });
  return found.items[0]?.path === path; // a path is the first of those that begin with it
}

/** What became of one file. `path` undefined: it stayed out. */
export interface Put {
  name: string;
  path?: string;
  problem?: string;
}

/** One after the other, so that two of the same name do not meet. Never throws; `said` hears of each. */
export async function putAll(
  files: readonly File[],
  folder: string,
  rule: Rule,
  said: (put: Put) => void,
): Promise<Put[]> {
  const done: Put[] = [];
  for (const file of files) {
    const put: Put = { name: file.name };
    try {
      const path = await stored(pathOf(folder, file.name), rule, file);
      if (path !== undefined) put.path = path;
    } catch (error) {
      put.problem = (error as Error).message;
    }
    done.push(put);
    said(put);
  }
  return done;
}

/** Where it went by the rule; undefined: nowhere. A file that comes between the look and the write is one that exists. */
async function stored(wanted: string, rule: Rule, file: File): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const path = await placeOf(wanted, rule, exists);
    if (path === undefined) return undefined;
    try {
      await write(path, file, rule === "replace" ? undefined : null);
      return path;
    } catch (error) {
      if (!isMet(error) || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

/** Whether a write was refused because something else is there than was meant. */
export function isMet(error: unknown): boolean {
  return error instanceof Refused && error.status === 412;
}

/** What has to be there for a write to be made. An etag: this version; null: no file; undefined: it does not matter. */
export type Meant = string | null | undefined;

export function condition(meant: Meant): Record<string, string> {
  if (meant === undefined) return {};
  return meant === null ? { "if-none-match": "*" } : { "if-match": meant };
}

/** Throws Refused, with status 412 where something else is there, and Error for what cannot be read. */
export async function write(path: string, file: Blob, meant?: Meant): Promise<void> {
  // A folder that is dropped comes as a file that nobody can read. `fetch` would say that nobody answers.
  await file.slice(0, 1).arrayBuffer().catch(() => {
    throw new Error("It is a folder, or a file that cannot be read. Drop the files that are in it.");
  });
  // Without a type of its own: the API takes bytes, whatever they are.
  const body = new Blob([file], { type: "application/octet-stream" });
  await ask("PUT", fileAddress(path), { body, headers: condition(meant) });
}
