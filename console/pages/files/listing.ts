/** Reads what is below a folder, and the addresses of folders and files on the page. */

import type { StoredFile } from "../../api/files";
import { get } from "../../api/request";
import type { Page, Shapes } from "../../api/shapes";
import { ROOT } from "../../navigation/places";
import { entriesOf, type Entry } from "./entries";

const PAGE = 1_000;
const MOST = 5_000;
const MOST_PAGES = 5;

export interface Listing {
  entries: Entry[];
  /** There are more files than are looked at here. */
  isCut: boolean;
}

export async function listing(folder: string, signal: AbortSignal): Promise<Listing> {
  const files: StoredFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await get<Page<StoredFile>>("/v1/files", { prefix: folder, limit: PAGE, cursor }, signal);
    files.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor && files.length < MOST);
  return { entries: entriesOf(folder, files), isCut: Boolean(cursor) };
}

export interface Deleted {
  files: Shapes["DeletedFile"][];
  /** There may be more than were looked for. */
  isCut: boolean;
}

export async function deletedFiles(folder: string, signal: AbortSignal): Promise<Deleted> {
  const files: Deleted["files"] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const asked = { prefix: folder, limit: PAGE, cursor, deleted: 1 };
    const found = await get<Page<Shapes["DeletedFile"]>>("/v1/files", asked, signal);
    files.push(...found.items);
    cursor = found.next_cursor ?? undefined;
    if (!cursor) break;
  }
  return { files, isCut: Boolean(cursor) };
}

export function folderAddress(folder: string): string {
  return folder ? `${ROOT}/files?${new URLSearchParams({ in: folder })}` : `${ROOT}/files`;
}

export function filePage(path: string): string {
  return `${ROOT}/files?${new URLSearchParams({ file: path })}`;
}
