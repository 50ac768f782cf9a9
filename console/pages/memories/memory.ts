/** Reads one memory, and writes it as it was read. */

import { ask, at } from "../../api/request";
import type { Kind, Memory } from "./words";

/** A memory with the tag of the state in which it was read. */
export interface AsRead {
  memory: Memory;
  tag: string;
}

export interface Words {
  kind: Kind;
  text: string;
  tags: string[];
  /** Everybody's sessions may be reminded of it from now on. Absent: as before. */
  shared?: true;
}

const PATH = "/v1/memories/{}";

/** Throws Refused, 404 where it is gone. */
export async function read(id: string): Promise<AsRead> {
  const { data, headers } = await ask<Memory>("GET", at(PATH, id));
  return { memory: data, tag: headers.get("etag") ?? "" };
}

/** Throws Refused, 412 where it is not as it was read any more. */
export async function replace(id: string, tag: string, body: Words): Promise<void> {
  await ask("PUT", at(PATH, id), { body, headers: { "if-match": tag } });
}

/** Throws Refused as `replace`. */
export async function remove(id: string, tag: string): Promise<void> {
  await ask("DELETE", at(PATH, id), { headers: { "if-match": tag } });
}

export async function add(body: Words & { agent_id: string }, key: string): Promise<void> {
  await ask("POST", "/v1/memories", { body, key });
}
