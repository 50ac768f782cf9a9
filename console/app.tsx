/** What stands around every page: where one is, who one is, and whether one is still signed in. */

import { useEffect, useState } from "preact/hooks";

import { place, to } from "./navigation/places";
import { openQuestions } from "./pages/inbox/open-questions";
import { PLACES } from "./pages/places";
import { SignIn } from "./pages/sign-in";
import { chooseTheme, theme } from "./parts/theme";
import { Toasts } from "./parts/toasts";
import { leaveToSignIn, signInSettings } from "./sign-in/code-flow";
import { isOver, may, me, tab } from "./sign-in/tokens";

export function App() {
  const shown = PLACES.find((each) => each.name === place());
  const isTheirs = !shown || may(shown.role);
  useEffect(() => {
    document.title = `${shown?.title ?? "Not found"} · Acta`;
  }, [shown]);
  if (!me.value) return <SignIn isOut />;
  const Shown = isTheirs ? (shown?.shows ?? NotFound) : NotTheirs;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href={to("inbox")}>
          Acta
        </a>
        <Environment />
        <nav aria-label="Pages">
          {PLACES.filter((each) => !each.under && may(each.role)).map((each) => (
            <a key={each.name} href={to(each.name)} aria-current={each === shown ? "page" : each.name === shown?.under ? "true" : undefined}>
              {each.title}
              {each.name === "inbox" && <Count of={openQuestions().value.value?.length ?? 0} />}
            </a>
          ))}
        </nav>
        <details class="person">
          <summary>{me.value.user}</summary>
          <div class="menu">
            <dl>
              <dt>Team</dt>
              <dd>{me.value.tenant}</dd>
              <dt>Roles</dt>
              <dd>{me.value.roles.join(", ")}</dd>
            </dl>
            <label>
              Colours{" "}
              <select value={theme.value} onChange={(event) => chooseTheme(event.currentTarget.value)}>
                <option value="">As the system</option>
                <option value="light">Light</option>
                <option value="dark">Dark</option>
              </select>
            </label>
            <button type="button" onClick={() => void tab.signOut()}>
              Sign out
            </button>
          </div>
        </details>
      </header>
      {isOver.value && <SignInAgain />}
      <main id="main">
        <Shown />
      </main>
      <Toasts />
    </>
  );
}

function Count({ of }: { of: number }) {
  return of > 0 ? (
    <span class="count" aria-label={`${of} waiting`}>
      {of}
    </span>
  ) : null;
}

function Environment() {
  const [name, setName] = useState("");
  useEffect(() => {
    signInSettings().then((settings) => setName(settings.environment), () => undefined);
  }, []);
  return name ? <span class="environment">{name}</span> : null;
}

function SignInAgain() {
  return (
    <div class="notice warning" role="alert">
      You are no longer signed in. This page may be out of date.{" "}
      <button type="button" onClick={() => void leaveToSignIn(location.pathname + location.search)}>
        Sign in again
      </button>
    </div>
  );
}

function NotTheirs() {
  return (
    <>
      <h1 tabIndex={-1}>This page is for admins</h1>
      <p>
        Somebody with the role admin can show it to you. What waits for you is in the <a href={to("inbox")}>inbox</a>.
      </p>
    </>
  );
}

function NotFound() {
  return (
    <>
      <h1 tabIndex={-1}>There is no such page</h1>
      <p>
        What waits for you is in the <a href={to("inbox")}>inbox</a>.
      </p>
    </>
  );
}
