/** Shown to whoever has not signed in, and where signing in failed. */

import { visible } from "../parts/words";
import { SignInFailed, leaveToSignIn, signInSettings } from "../sign-in/code-flow";
import { useEffect, useState } from "preact/hooks";

export function SignIn({ failure, isOut }: { failure?: Error; isOut?: boolean }) {
  const [problem, setProblem] = useState(failure);
  const [isLocal, setLocal] = useState(false);
  useEffect(() => {
    signInSettings().then(({ environment }) => setLocal(environment === "local"), () => undefined);
  }, []);
  const place = location.pathname.endsWith("/signed-in") ? "/console/inbox" : location.pathname + location.search;
  return (
    <main class="sign-in">
      <h1>Acta</h1>
      <p>Agents that work on their own, and ask you when they must.</p>
      {isOut && <p role="status">You have signed out, in all tabs.</p>}
      {problem && (
        <p class="notice warning" role="alert">
          {visible(problem instanceof SignInFailed ? problem.message : `Signing in did not work: ${problem.message}`)}
        </p>
      )}
      <button type="button" class="primary" onClick={() => void leaveToSignIn(place).catch(setProblem)}>
        Sign in
      </button>
      {isLocal && (
        <p class="hint">
          This is a local stack. <code>acta console</code> prints a link that signs you in by itself.
        </p>
      )}
    </main>
  );
}
