/** Files of the tenant's storage, and putting some there. */

import { fileAddress, pathOf, placeOf, type Rule } from "./file-names";
import { ask, get } from "./request";
import type { Page, Shapes } from "./shapes";

export type StoredFile = Shapes["File"];
export type FileVersion = Shapes["FileVersion"];

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
      const path = await placeOf(pathOf(folder, file.name), rule, exists);
      if (path !== undefined) {
        await write(path, file);
        put.path = path;
      }
    } catch (error) {
      put.problem = (error as Error).message;
    }
    done.push(put);
    said(put);
  }
  return done;
}

export async function write(path: string, file: Blob): Promise<void> {
  // Without a type of its own: the API takes bytes, whatever they are.
  const body = new Blob([file], { type: "application/octet-stream" });
  await ask("PUT", fileAddress(path), { body });
}
