/**
 * The sign-in of one tab. From its first token on, a tab belongs to one person: whatever another tab says, and whatever
 * a renewal brings, it takes no token of anybody else. Somebody else signs in in this tab by loading the page again.
 */

import { signal } from "@preact/signals";

import type { Me } from "../api/shapes";
import type { Drafts } from "../drafts/drafts";
import { SignInFailed, type Tokens } from "./code-flow";
import { isSame, type Person } from "./person";

/** What tabs of this browser tell each other. `who`: a tab asks for the tokens of a person, or of anybody. */
type Message = { kind: "who"; of?: Person } | { kind: "here"; tokens: Tokens } | ({ kind: "out" } & Person);

/** What a tab needs of its browser and of the issuer. */
export interface Around {
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  others: Pick<BroadcastChannel, "postMessage" | "onmessage">;
  locks: { request<Result>(name: string, use: () => Promise<Result>): Promise<Result> };
  /** Waits until the other tabs have answered. */
  answers: () => Promise<void>;
  drafts: Pick<Drafts, "keepOnly">;
  renew: (renews: string) => Promise<Tokens>;
  revoke: (renews: string) => Promise<void>;
}

const KEPT = "acta.tokens";
const EARLY_MS = 60_000;

export class Tab {
  readonly me = signal<Me | undefined>(undefined);
  /** True as soon as somebody has to sign in again to go on. What is shown stays. */
  readonly isOver = signal(false);
  private tokens: Tokens | undefined;
  private renewing: Promise<string> | undefined;
  /** What the other tabs have, while this one, which is nobody's yet, asks. */
  private offered: Tokens[] | undefined;

  constructor(private readonly around: Around) {
    const text = around.storage.getItem(KEPT);
    this.tokens = text === null ? undefined : (JSON.parse(text) as Tokens);
    around.others.onmessage = ({ data }) => this.hear(data as Message);
  }

  private hear(message: Message): void {
    const { tokens } = this;
    if (message.kind === "here") {
      if (this.offered) this.offered.push(message.tokens);
      else if (tokens && isSame(tokens, message.tokens) && message.tokens.expires > tokens.expires) this.keep(message.tokens);
    } else if (message.kind === "out") {
      if (tokens && isSame(tokens, message)) this.forget();
    } else if (tokens && (!message.of || isSame(tokens, message.of))) {
      this.say({ kind: "here", tokens });
    }
  }

  /** Whether this tab has a sign-in, or gets that of the one person who has signed in in other tabs. */
  async isSignedIn(): Promise<boolean> {
    if (this.tokens) return true;
    this.offered = [];
    this.say({ kind: "who" });
    await this.around.answers();
    const [newest, ...older] = this.offered.sort((one, other) => other.expires - one.expires);
    this.offered = undefined;
    // Where two people have signed in in this browser, this tab cannot know whose it is.
    if (newest && older.every((each) => isSame(each, newest))) this.keep(newest);
    return this.tokens !== undefined;
  }

  /** Somebody signs in in this tab, which has shown nothing yet. */
  begin(fresh: Tokens): void {
    this.keep(fresh);
    this.say({ kind: "here", tokens: fresh });
  }

  /** From now on this tab shows what `who` may see. Throws SignInFailed if its tokens are not theirs. */
  show(who: Me): void {
    if (!isSame(who, this.tokens)) throw new SignInFailed("The service takes this sign-in for somebody else's. Sign in again.");
    this.around.drafts.keepOnly(who);
    this.me.value = who;
  }

  /** Throws SignInFailed. */
  async token(): Promise<string> {
    if (!this.tokens) return this.over();
    return this.tokens.expires - Date.now() > EARLY_MS || !this.tokens.renews ? this.tokens.bearer : this.renewed();
  }

  /** The next token, got once however many ask, by one tab for all. Throws SignInFailed, TypeError. */
  renewed(): Promise<string> {
    this.renewing ??= this.renew(this.tokens?.bearer).finally(() => (this.renewing = undefined));
    return this.renewing;
  }

  private renew(before: string | undefined): Promise<string> {
    return this.around.locks.request("acta.renew", async () => {
      // What renews a sign-in works once. Another tab may have used it and told of the next one, and the lock may get
      // here before that does.
      if (this.tokens) this.say({ kind: "who", of: { tenant: this.tokens.tenant, user: this.tokens.user } });
      await this.around.answers();
      const old = this.tokens;
      if (!old?.renews) return this.over();
      if (old.bearer !== before) return old.bearer;
      const fresh = await this.around.renew(old.renews).catch((error: unknown) => {
        if (!(error instanceof SignInFailed)) throw error;
        return undefined;
      });
      if (this.tokens && fresh && isSame(fresh, this.tokens)) {
        this.begin(fresh);
        return fresh.bearer;
      }
      if (fresh) void this.around.revoke(fresh.renews).catch(() => undefined); // they have signed out meanwhile
      if (this.tokens) this.keep({ ...this.tokens, renews: "" }); // it is not asked again
      return this.over();
    });
  }

  /** In all tabs of this person. */
  async signOut(): Promise<void> {
    if (!this.tokens) return;
    const { tenant, user, renews } = this.tokens;
    this.say({ kind: "out", tenant, user });
    this.forget();
    await this.around.revoke(renews).catch(() => undefined);
  }

  private say(message: Message): void {
    this.around.others.postMessage(message);
  }

  private over(): never {
    this.isOver.value = true;
    throw new SignInFailed("Your sign-in has ended. Sign in again.");
  }

  private keep(fresh: Tokens): void {
    // A tab that shows somebody is theirs to the end, also after they have signed out.
    if (this.me.value && !isSame(this.me.value, fresh)) throw new SignInFailed("This page is somebody else's. Load it again.");
    this.tokens = fresh;
    this.around.storage.setItem(KEPT, JSON.stringify(fresh));
    this.isOver.value = false;
  }

  private forget(): void {
    this.tokens = undefined;
    this.around.storage.removeItem(KEPT);
    this.around.drafts.keepOnly();
    this.me.value = undefined;
    this.isOver.value = true;
  }
}
