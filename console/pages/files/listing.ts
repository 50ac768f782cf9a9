/** Reads what is below a folder, and the addresses of folders and files on the page. */

import type { StoredFile } from "../../api/files";
import { get } from "../../api/request";
import type { Page, Shapes } from "../../api/shapes";
import { ROOT } from "../../navigation/places";
import { entriesOf, type Entry } from "./entries";

const PAGE = 1_000;
const MOST_PAGES = 5;

interface Found<File> {
  files: File[];
  /** There may be more than were looked for. */
  isCut: boolean;
}

export type Deleted = Found<Shapes["DeletedFile"]>;

/** Files below a folder. `deleted` 1: those that were deleted. */
async function filesBelow<File>(prefix: string, signal: AbortSignal, deleted?: 1): Promise<Found<File>> {
  const files: File[] = [];
  let cursor: string | null | undefined;
  for (let looked = 0; looked < MOST_PAGES && cursor !== null; looked += 1) {
    const page: Page<File> = await get("/v1/files", { prefix, limit: PAGE, cursor, deleted }, signal);
    files.push(...page.items);
    cursor = page.next_cursor;
  }
  return { files, isCut: cursor !== null };
}

export async function listing(folder: string, signal: AbortSignal): Promise<Listing> {
  const { files, isCut } = await filesBelow<StoredFile>(folder, signal);
  return { entries: entriesOf(folder, files), isCut };
}

export interface Listing {
  entries: Entry[];
  isCut: boolean;
}

export function deletedFiles(folder: string, signal: AbortSignal): Promise<Deleted> {
  return filesBelow(folder, signal, 1);
}

export function folderAddress(folder: string): string {
  return folder ? `${ROOT}/files?${new URLSearchParams({ in: folder })}` : `${ROOT}/files`;
}

export function filePage(path: string): string {
  return `${ROOT}/files?${new URLSearchParams({ file: path })}`;
}
