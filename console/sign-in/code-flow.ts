/** The code grant with PKCE at the deployment's issuer. Sources: RFC 6749, 7636, OpenID Connect Discovery 1.0. */

import type { PageSignIn } from "../api/shapes";
import type { Person } from "./person";

/** What an issuer says of itself. */
interface Endpoints {
  authorization_endpoint: string;
  token_endpoint: string;
  revocation_endpoint?: string;
}

/** Whose they are is read in `bearer`. `expires` in milliseconds of the epoch. `renews` empty: the sign-in ends with the
 * token.
 */
export interface Tokens extends Person {
  bearer: string;
  renews: string;
  expires: number;
}

/** The message is for the person. */
export class SignInFailed extends Error {}

interface Attempt {
  state: string;
  verifier: string;
  nonce: string;
  place: string;
}

const ATTEMPT = "acta.sign-in";
const BACK = "/console/signed-in";
/** The local stack's own: the code of a link, which is of use once, within a minute. */
const BY_LINK = "urn:acta:link";

let settings: Promise<PageSignIn> | undefined;
let endpoints: Promise<Endpoints> | undefined;

/** What this deployment says of signing in. Throws SignInFailed. */
export function signInSettings(): Promise<PageSignIn> {
  settings ??= json<{ data: PageSignIn }>("/console/sign-in.json").then((answer) => answer.data);
  settings.catch(() => (settings = undefined));
  return settings;
}

/** Leaves this page for the issuer's; people come back to `place`. Throws SignInFailed. */
export async function leaveToSignIn(place: string): Promise<void> {
  const { client_id, scope, issuer } = await signInSettings();
  if (!issuer) throw new SignInFailed("This deployment has no client id for this page, so nobody can sign in here.");
  const attempt: Attempt = { state: random(), verifier: random(), nonce: random(), place };
  sessionStorage.setItem(ATTEMPT, JSON.stringify(attempt));
  const asked = new URLSearchParams({
    response_type: "code",
    client_id,
    scope,
    redirect_uri: location.origin + BACK,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await challenge(attempt.verifier),
    code_challenge_method: "S256",
  });
  location.assign(`${(await discovered()).authorization_endpoint}?${asked}`);
}

/** Whoever comes back from the issuer: their tokens, and the place they left. Throws SignInFailed. */
export async function cameBack(query: URLSearchParams): Promise<{ tokens: Tokens; place: string }> {
  const kept = sessionStorage.getItem(ATTEMPT);
  sessionStorage.removeItem(ATTEMPT);
  const attempt = kept === null ? undefined : (JSON.parse(kept) as Attempt);
  if (!attempt || query.get("state") !== attempt.state) {
    throw new SignInFailed("This sign-in was not begun in this tab. Sign in again.");
  }
  const code = query.get("code");
  if (!code) throw new SignInFailed(query.get("error_description") ?? "Your identity provider did not sign you in.");
  const { client_id } = await signInSettings();
  const tokens = await exchanged({
    grant_type: "authorization_code",
    client_id,
    code,
    redirect_uri: location.origin + BACK,
    code_verifier: attempt.verifier,
  }, attempt.nonce);
  return { tokens, place: attempt.place };
}

/** Throws SignInFailed. */
export async function byLink(code: string): Promise<Tokens> {
  return exchanged({ grant_type: BY_LINK, code });
}

/** Throws SignInFailed where the sign-in has ended, TypeError where the issuer cannot be reached. */
export async function byRenewal(renews: string): Promise<Tokens> {
  const { client_id } = await signInSettings();
  return exchanged({ grant_type: "refresh_token", client_id, refresh_token: renews }, undefined, renews);
}

/** Has the issuer end the sign-in, as far as it offers that. */
export async function revoke(renews: string): Promise<void> {
  const { revocation_endpoint } = await discovered();
  if (!revocation_endpoint || !renews) return;
  const { client_id } = await signInSettings();
  // Also where the tab is closed or left at once.
  await fetch(revocation_endpoint, { method: "POST", body: new URLSearchParams({ token: renews, client_id }), keepalive: true });
}

interface Granted {
  id_token?: string;
  access_token?: string;
  refresh_token?: string;
  expires_in?: number;
}

async function exchanged(form: Record<string, string>, nonce?: string, renews = ""): Promise<Tokens> {
  const [{ token_endpoint }, { takes, tenant_claim }] = await Promise.all([discovered(), signInSettings()]);
  const answer = await fetch(token_endpoint, { method: "POST", body: new URLSearchParams(form), credentials: "omit" });
  if (answer.status >= 500) throw new TypeError("the issuer is not available");
  if (!answer.ok) throw new SignInFailed("This sign-in has expired or was used already. Sign in again.");
  const granted = (await answer.json()) as Granted;
  const bearer = granted[takes];
  if (!bearer) throw new SignInFailed(`The issuer gave no ${takes}. The operator's settings name the wrong one.`);
  if (nonce !== undefined && granted.id_token && claims(granted.id_token)["nonce"] !== nonce) {
    throw new SignInFailed("The issuer's answer belongs to another sign-in. Sign in again.");
  }
  const { sub, [tenant_claim]: tenant } = claims(bearer);
  if (typeof sub !== "string" || typeof tenant !== "string") {
    throw new SignInFailed(`The ${takes} of your sign-in names no subject or no ${tenant_claim}, so it opens nothing here.`);
  }
  const seconds = granted.expires_in ?? 3_600;
  return { bearer, tenant, user: sub, renews: granted.refresh_token ?? renews, expires: Date.now() + seconds * 1_000 };
}

function discovered(): Promise<Endpoints> {
  endpoints ??= signInSettings().then(({ issuer }) =>
    json<Endpoints>(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`),
  );
  endpoints.catch(() => (endpoints = undefined));
  return endpoints;
}

async function json<Data>(url: string): Promise<Data> {
  const answer = await fetch(url, { credentials: "omit" });
  if (!answer.ok) throw new TypeError(`${new URL(url, location.href).origin} answered ${answer.status}`);
  return (await answer.json()) as Data;
}

function claims(token: string): Record<string, unknown> {
  const middle = token.split(".")[1] ?? "";
  const bytes = Uint8Array.from(atob(middle.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function challenge(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
