/**
 * Who has signed in here. A sign-in lives as long as a tab: it is kept in `sessionStorage`, and a new tab asks those
 * that are open. So nothing stays on a machine whose browser was closed.
 */

import { signal } from "@preact/signals";

import type { Me } from "../api/shapes";
import { drafts } from "../drafts/drafts";
import { byRenewal, revoke, SignInFailed, type Tokens } from "./code-flow";

export const me = signal<Me | undefined>(undefined);
/** True as soon as somebody has to sign in again to go on. What is shown stays. */
export const isOver = signal(false);

const KEPT = "acta.tokens";
const CHANNEL = "acta.sign-in";
const ASK_MS = 150;
const EARLY_MS = 60_000;

type Message = { kind: "who" } | { kind: "here"; tokens: Tokens } | { kind: "out" };

let tokens: Tokens | undefined = kept();
let renewing: Promise<string> | undefined;
const others = new BroadcastChannel(CHANNEL);

others.onmessage = ({ data }: MessageEvent<Message>) => {
  if (data.kind === "who" && tokens) others.postMessage({ kind: "here", tokens } satisfies Message);
  if (data.kind === "here" && (!tokens || data.tokens.expires > tokens.expires)) keep(data.tokens);
  if (data.kind === "out") forget();
};

/** Whether this tab, or another one, has a sign-in. */
export async function isSignedIn(): Promise<boolean> {
  if (tokens) return true;
  others.postMessage({ kind: "who" } satisfies Message);
  await new Promise((done) => setTimeout(done, ASK_MS));
  return tokens !== undefined;
}

export function begin(fresh: Tokens): void {
  keep(fresh);
  others.postMessage({ kind: "here", tokens: fresh } satisfies Message);
}

/** Throws SignInFailed. */
export async function token(): Promise<string> {
  if (!tokens) return over();
  return tokens.expires - Date.now() > EARLY_MS || !tokens.renews ? tokens.bearer : renewed();
}

/** The next token, got once however many ask, by one tab for all. Throws SignInFailed, TypeError. */
export function renewed(): Promise<string> {
  renewing ??= renew().finally(() => (renewing = undefined));
  return renewing;
}

async function renew(): Promise<string> {
  const before = tokens?.bearer;
  return await navigator.locks.request("acta.renew", async () => {
    if (!tokens?.renews) return over();
    if (tokens.bearer !== before) return tokens.bearer; // another tab has it meanwhile
    try {
      const fresh = await byRenewal(tokens.renews);
      begin(fresh);
      return fresh.bearer;
    } catch (error) {
      if (!(error instanceof SignInFailed)) throw error;
      keep({ ...tokens, renews: "" }); // it is not asked again
      return over();
    }
  });
}

/** In all tabs. */
export async function signOut(): Promise<void> {
  const renews = tokens?.renews ?? "";
  others.postMessage({ kind: "out" } satisfies Message);
  forget();
  await revoke(renews).catch(() => undefined);
}

/** Whether that person has the role; `admin` may do all that members may. */
export function may(role: string): boolean {
  const roles = me.value?.roles ?? [];
  return roles.includes(role) || (role === "member" && roles.includes("admin"));
}

function over(): never {
  isOver.value = true;
  throw new SignInFailed("Your sign-in has ended. Sign in again.");
}

function keep(fresh: Tokens): void {
  tokens = fresh;
  sessionStorage.setItem(KEPT, JSON.stringify(fresh));
  isOver.value = false;
}

function forget(): void {
  tokens = undefined;
  sessionStorage.removeItem(KEPT);
  drafts.keepOnly();
  me.value = undefined;
  isOver.value = true;
}

function kept(): Tokens | undefined {
  const text = sessionStorage.getItem(KEPT);
  return text === null ? undefined : (JSON.parse(text) as Tokens);
}
