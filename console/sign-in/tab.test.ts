import assert from "node:assert";
import { test } from "node:test";

import type { Me } from "../api/shapes";
import { SignInFailed, type Tokens } from "./code-flow";
import { Tab } from "./tab";

const HOUR = 3_600_000;
const ANN = { tenant: "acme", user: "ann" };

const tokens = (user: string, more: Partial<Tokens> = {}): Tokens => ({
  ...ANN,
  user,
  bearer: `${user}'s`,
  renews: `${user} renews`,
  expires: Date.now() + HOUR,
  ...more,
});
const who = (user: string): Me => ({ ...ANN, user, roles: ["member"] }) as Me;

/** A browser with an issuer that takes what renews a sign-in once. */
class Browser {
  readonly revoked: string[] = [];
  readonly used: string[] = [];
  /** Whose tokens a renewal brings. */
  gives = (renews: string): Tokens => tokens(renews.split(" ")[0]!, { bearer: `after ${renews}`, renews: `${renews}+`, expires: Date.now() + 2 * HOUR });
  private readonly tabs: { onmessage: ((event: MessageEvent) => void) | null }[] = [];
  private turn: Promise<unknown> = Promise.resolve();
  private waiting: (() => void)[] = [];

  /** `kept`: what the tab has in its storage, as after a reload. */
  open(kept?: Tokens, storage = new Map<string, string>()) {
    if (kept) storage.set("acta.tokens", JSON.stringify(kept));
    const own = {
      onmessage: null as ((event: MessageEvent) => void) | null,
      postMessage: (data: unknown) => {
        for (const each of this.tabs) if (each !== own) this.waiting.push(() => each.onmessage?.({ data } as MessageEvent));
      },
    };
    this.tabs.push(own);
    let dropped = 0;
    const tab = new Tab({
      storage: {
        getItem: (name) => storage.get(name) ?? null,
        setItem: (name, text) => void storage.set(name, text),
        removeItem: (name) => void storage.delete(name),
      },
      others: own,
      locks: {
        request: <Result>(_: string, use: () => Promise<Result>) => {
          const done = this.turn.then(use);
          this.turn = done.catch(() => undefined);
          return done;
        },
      },
      answers: async () => this.deliver(),
      drafts: { keepOnly: () => void (dropped += 1) },
      renew: async (renews) => {
        if (this.used.includes(renews)) throw new SignInFailed("used already");
        this.used.push(renews);
        return this.gives(renews);
      },
      revoke: async (renews) => void this.revoked.push(renews),
    });
    return Object.assign(tab, { storage, dropped: () => dropped });
  }

  /** Messages arrive late, as from another process. */
  deliver(): void {
    while (this.waiting.length) this.waiting.shift()!();
  }
}

/** A tab that somebody has signed in to and looks at. */
async function shown(browser: Browser, user: string, of: Partial<Tokens> = {}) {
  const tab = browser.open();
  tab.begin(tokens(user, of));
  tab.show({ ...who(user), tenant: of.tenant ?? "acme" });
  browser.deliver();
  return tab;
}

test("a tab goes on sending as the person whom it shows while somebody else signs in in another tab", async () => {
  const browser = new Browser();
  const anns = await shown(browser, "ann");
  const boss = await shown(browser, "boss", { expires: Date.now() + 9 * HOUR });
  assert.equal(await anns.token(), "ann's");
  assert.equal(await boss.token(), "boss's");
  assert.equal((JSON.parse(anns.storage.get("acta.tokens")!) as Tokens).renews, "ann renews");
});

test("one name in two tenants is two people", async () => {
  const browser = new Browser();
  const anns = await shown(browser, "ann");
  await shown(browser, "ann", { tenant: "other", bearer: "of the other tenant", expires: Date.now() + 9 * HOUR });
  assert.equal(await anns.token(), "ann's");
});

test("a new tab gets the sign-in of the one person who is there, the newest token of it, and of two people none", async () => {
  const browser = new Browser();
  await shown(browser, "ann");
  await shown(browser, "ann", { bearer: "newest", expires: Date.now() + 2 * HOUR });
  const second = browser.open();
  assert.equal(await second.isSignedIn(), true);
  assert.equal(await second.token(), "newest");
  await shown(browser, "boss");
  assert.equal(await browser.open().isSignedIn(), false);
});

test("a sign-out ends in all tabs of that person, what they wrote too, and in nobody else's", async () => {
  const browser = new Browser();
  const [first, second, boss] = [await shown(browser, "ann"), await shown(browser, "ann"), await shown(browser, "boss")];
  await second.signOut();
  browser.deliver();
  for (const each of [first, second]) {
    await assert.rejects(each.token(), SignInFailed);
    assert.deepEqual([each.me.value, each.isOver.value, each.storage.size, each.dropped()], [undefined, true, 0, 2]);
  }
  assert.equal(await boss.token(), "boss's");
  assert.deepEqual(browser.revoked, ["ann renews"]);
});

test("a tab that somebody has signed out of takes nobody's token until it is loaded again", async () => {
  const browser = new Browser();
  const anns = await shown(browser, "ann");
  await anns.signOut();
  await shown(browser, "boss");
  await assert.rejects(anns.token(), SignInFailed);
  assert.equal(anns.me.value, undefined);
  const loaded = browser.open(undefined, anns.storage);
  assert.equal(await loaded.isSignedIn(), true);
  assert.equal(await loaded.token(), "boss's");
});

test("a page shows nobody but the person of its token", async () => {
  const tab = new Browser().open(tokens("ann"));
  assert.throws(() => tab.show(who("boss")), SignInFailed);
  assert.throws(() => tab.show({ ...who("ann"), tenant: "other" }), SignInFailed);
  assert.equal(tab.me.value, undefined);
  tab.show(who("ann"));
  assert.throws(() => tab.begin(tokens("boss")), SignInFailed);
  assert.equal(await tab.token(), "ann's");
});

test("two tabs that renew at the same time use what renews the sign-in once, and both go on", async () => {
  const browser = new Browser();
  const [first, second] = [await shown(browser, "ann"), await shown(browser, "ann")];
  const got = await Promise.all([first.renewed(), second.renewed(), second.renewed()]);
  assert.deepEqual(new Set(got), new Set(["after ann renews"]));
  assert.deepEqual(browser.used, ["ann renews"]);
  for (const each of [first, second]) assert.equal((JSON.parse(each.storage.get("acta.tokens")!) as Tokens).renews, "ann renews+");
});

test("a renewal that brings somebody else's token ends the sign-in", async () => {
  const browser = new Browser();
  const tab = await shown(browser, "ann");
  browser.gives = () => tokens("boss", { renews: "boss renews" });
  await assert.rejects(tab.renewed(), SignInFailed);
  assert.equal(tab.isOver.value, true);
  assert.equal(await tab.token(), "ann's");
  assert.deepEqual(browser.revoked, ["boss renews"]);
});

test("who signs out while a token is being renewed is out, and what the renewal brought is revoked", async () => {
  const browser = new Browser();
  const [first, second] = [await shown(browser, "ann"), await shown(browser, "ann")];
  const gives = browser.gives;
  browser.gives = (renews) => {
    void second.signOut();
    browser.deliver();
    return gives(renews);
  };
  await assert.rejects(first.renewed(), SignInFailed);
  assert.equal(first.storage.size, 0);
  assert.deepEqual(browser.revoked, ["ann renews", "ann renews+"]);
});

test("an issuer that does not answer ends nothing", async () => {
  const browser = new Browser();
  const tab = await shown(browser, "ann");
  const gives = browser.gives;
  browser.gives = () => {
    throw new TypeError("not available");
  };
  await assert.rejects(tab.renewed(), TypeError);
  assert.equal(tab.isOver.value, false);
  browser.gives = gives;
  browser.used.length = 0;
  assert.equal(await tab.renewed(), "after ann renews");
});

test("a sign-in that is over goes on in this tab after the same person has signed in in another", async () => {
  const browser = new Browser();
  const tab = await shown(browser, "ann", { renews: "" });
  await assert.rejects(tab.renewed(), SignInFailed);
  await shown(browser, "boss", { expires: Date.now() + 9 * HOUR });
  assert.equal(tab.isOver.value, true);
  await shown(browser, "ann", { bearer: "the next", expires: Date.now() + 2 * HOUR });
  assert.equal(tab.isOver.value, false);
  assert.equal(await tab.token(), "the next");
});
