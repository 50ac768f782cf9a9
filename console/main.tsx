/** Begins the page: signs in by a link, by coming back from the issuer, or by what another tab has. */

import { render } from "preact";

import { App } from "./app";
import { get } from "./api/request";
import type { Me } from "./api/shapes";
import { beginNavigation, go, path, query, ROOT } from "./navigation/places";
import { SignIn } from "./pages/sign-in";
import { byLink, cameBack } from "./sign-in/code-flow";
import { tab } from "./sign-in/tokens";

const page = document.getElementById("page")!;

async function start(): Promise<void> {
  beginNavigation();
  // A link that is opened where the page is open already changes what follows `#`, and loads nothing.
  addEventListener("hashchange", () => codeOfLink() && location.reload());
  // A page that comes back out of the browser's memory may be of somebody who has signed out in this tab meanwhile.
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
  const link = codeOfLink();
  if (link) {
    history.replaceState(null, "", location.pathname + location.search); // it is of no more use, and nobody's to see
    tab.begin(await byLink(link));
  } else if (path.value[0] === "signed-in") {
    const answer = query.value;
    history.replaceState(null, "", location.pathname); // before anything is fetched with the code in its referrer
    const { tokens, place } = await cameBack(answer);
    tab.begin(tokens);
    go(place, { replace: true });
  }
  if (!(await tab.isSignedIn())) return render(<SignIn />, page);
  tab.show(await get<Me>("/v1/me"));
  if (path.value.length === 0) go(`${ROOT}/inbox`, { replace: true });
  render(<App />, page);
}

function codeOfLink(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("code");
}

page.replaceChildren();
start().catch((error: unknown) => render(<SignIn failure={error as Error} />, page));
