/** Requests to the API, with the token of whoever has signed in. */

import { tab } from "../sign-in/tokens";
import { parseAnswer, write } from "./exact-json";
import { Refused } from "./refused";
import type { Page } from "./shapes";

export { Refused };

export interface Asked {
  query?: Record<string, string | number | boolean | null | undefined> | undefined;
  /** JSON, or a file as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** The idempotency key: a request that is repeated with it acts once. Without one, each request gets a key of its own. */
  key?: string | undefined;
}

export interface Answer<Data> {
  status: number;
  headers: Headers;
  data: Data;
}

const READ_NOTHING = "The service cannot be reached. Check the connection; this page tries again by itself.";
/** Whoever wrote something must not believe that it is on its way: nothing is sent again by itself. */
const SENT_NOTHING = "The service cannot be reached. Check the connection, then send it again.";

/** Throws Refused. An answer without a body has `data` undefined; one that is no JSON has it as a Blob. */
export async function ask<Data>(method: string, path: string, asked: Asked = {}): Promise<Answer<Data>> {
  const first = await sent(method, path, asked, await tab.token());
  const answer = first.status === 401 ? await sent(method, path, asked, await tab.renewed()) : first;
  return read<Data>(answer);
}

/** The data of a GET. Throws Refused. */
export async function get<Data>(path: string, query?: Asked["query"], signal?: AbortSignal): Promise<Data> {
  return (await ask<Data>("GET", path, { query, signal })).data;
}

const MOST_EMPTY = 20;

/** A page of a listing. One that has found nothing so far is followed by the next. Throws Refused. */
export async function page<Found extends Page<unknown>>(
  path: string,
  query: NonNullable<Asked["query"]>,
  signal?: AbortSignal,
): Promise<Found> {
  let found = await get<Found>(path, query, signal);
  for (let looked = 1; looked < MOST_EMPTY && !found.items.length && found.next_cursor; looked++)
    found = await get<Found>(path, { ...query, cursor: found.next_cursor }, signal);
  return found;
}

/** Every item of a listing. Throws Refused. */
export async function all<Item>(path: string, query: NonNullable<Asked["query"]> = {}): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null | undefined;
  do {
    const page: Page<Item> = await get(path, { ...query, cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return items;
}

/** `path` with the parts in `values` written as a URL has them. */
export function at(path: string, ...values: (string | number)[]): string {
  let next = 0;
  return path.replace(/\{\}/g, () => encodeURIComponent(String(values[next++])));
}

export function withQuery(path: string, query: Asked["query"] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value != null) given.set(name, String(value));
  const text = given.toString();
  return text ? `${path}?${text}` : path;
}

async function sent(method: string, path: string, asked: Asked, bearer: string): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${bearer}`, ...asked.headers };
  if (method === "POST" || method === "PATCH") headers["idempotency-key"] = asked.key ?? crypto.randomUUID();
  let body: BodyInit | null = null;
  if (asked.body instanceof Blob) body = asked.body;
  else if (asked.body !== undefined) {
    headers["content-type"] = "application/json";
    body = write(asked.body).replaceAll("\ufffd", "\\ufffd"); // by itself it says that bytes were lost on the way
  }
  const signal = asked.signal ?? null;
  try {
    return await fetch(withQuery(path, asked.query), { method, headers, body, signal, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused(0, "UNREACHABLE", method === "GET" ? READ_NOTHING : SENT_NOTHING);
  }
}

async function read<Data>(answer: Response): Promise<Answer<Data>> {
  const kind = answer.headers.get("content-type") ?? "";
  if (!answer.ok) throw await refusal(answer, kind);
  let data: unknown;
  if (answer.status === 204 || answer.status === 304) data = undefined;
  else if (kind.startsWith("application/json")) data = (parseAnswer(await answer.text()) as { data: unknown }).data;
  else data = new Blob([await answer.arrayBuffer()], { type: kind }); // Chromium's `blob()` leaves the charset out
  return { status: answer.status, headers: answer.headers, data: data as Data };
}

interface Envelope {
  error?: { code: string; message: string; details?: Record<string, string[]> };
  message?: string;
}

async function refusal(answer: Response, kind: string): Promise<Refused> {
  let said: Envelope = {};
  if (kind.startsWith("application/json")) said = ((await answer.json().catch(() => ({}))) ?? {}) as Envelope;
  const wait = Number(answer.headers.get("retry-after") ?? NaN);
  const { error } = said;
  return new Refused(
    answer.status,
    error?.code ?? `HTTP_${answer.status}`,
    error?.message ?? said.message ?? `The service answered ${answer.status}.`,
    error?.details ?? {},
    Number.isFinite(wait) ? wait : undefined,
  );
}
