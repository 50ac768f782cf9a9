/** Where a session is: its goal, what it does, why it waits, and how much it has used of what it may. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { Session } from "../../api/shapes";
import type { Live } from "../../live/watch";
import { to } from "../../navigation/places";
import { dollars } from "../../parts/amounts";
import { IsLive } from "../../parts/fresh";
import { InLine } from "../../parts/in-line";
import { isOpen, stateInWords } from "../../parts/session-state";
import { Ago, Until } from "../../parts/time";
import { sayError } from "../../parts/toasts";
import { Quoted, Text, visible } from "../../parts/words";
import type { Feed } from "./feed";
import { waitsForAnswer, why } from "./why";
import type { Conversation } from "./texts";

interface Shown {
  session: Session;
  live: Live<Feed>;
  conversation: Conversation;
}

export function Summary({ session, live, conversation }: Shown) {
  const { text, tone } = stateInWords(session);
  return (
    <>
      <p class="facts">
        <strong class={`state tag ${tone}`} role="status">
          {text}
        </strong>{" "}
        <span>
          agent <Text>{session.agent_name}</Text>
        </span>{" "}
        <span>
          by <Text>{session.created_by}</Text>, <Ago at={session.created_at} />
        </span>{" "}
        {session.visibility === "private" && <span>private</span>}
        {session.forked_from && (
          <a href={to("sessions", session.forked_from.session_id)}>begun from another session</a>
        )}{" "}
        {isOpen(session) && <IsLive of={live} />}
      </p>
      {session.goal && <Goal key={session.goal} session={session} conversation={conversation} />}
      <Reason session={session} />
    </>
  );
}

/** Characters of the goal that a session has; the message that it came with has all. */
const GOAL_CHARS = 1_000;

function Goal({ session: { goal, created_by, parent }, conversation }: Omit<Shown, "live">) {
  const [whole, setWhole] = useState<string>();
  const isCut = whole === undefined && [...goal].length >= GOAL_CHARS;
  const read = async () => setWhole((await conversation.saidFrom(goal))?.content ?? `${goal} …`);
  return (
    <>
      <Quoted by={`The goal, as ${visible(parent?.chain.at(-1)?.agent_name ?? created_by)} gave it`}>{whole ?? (isCut ? `${goal} …` : goal)}</Quoted>
      {isCut && (
        <button type="button" onClick={() => read().catch(sayError)}>
          Show the whole goal
        </button>
      )}
    </>
  );
}

function Reason({ session }: { session: Session }) {
  const said = why(session);
  const { tone } = stateInWords(session);
  const { cause, error, queue, retry_at, retrying } = session;
  if (!said && !cause && !error) return null;
  return (
    <div class={`notice ${tone === "bad" ? "bad" : tone === "warn" ? "warning" : ""}`}>
      {said} <InLine of={session} />{" "}
      {error && (
        <>
          <code>{error.code}</code> <Text>{error.message}</Text> Say something to begin its next run.
        </>
      )}
      {cause && !queue && (
        <>
          <code>{cause.code}</code> <Text>{cause.message}</Text>
        </>
      )}{" "}
      {retrying && "It tries again now."}
      {retry_at && (
        <>
          {queue || waitsForAnswer(session) ? "It goes on at the latest" : "It tries again"} <Until at={retry_at} soon={0} />.
        </>
      )}
    </div>
  );
}

export function Progress({ session }: { session: Session }) {
  const { plan, run, budget, usage } = session;
  const count = (status: string) => plan?.steps.filter((each) => each.status === status).length ?? 0;
  const others = ["skipped", "failed"].map((each) => (count(each) ? `, ${count(each)} ${each}` : "")).join("");
  return (
    <section class="bars" aria-label="Progress">
      {plan && (
        <Bar name="Steps" value={count("completed")} of={plan.steps.length}>
          {count("completed")} of {plan.steps.length} done{others}
        </Bar>
      )}
      {run && (
        <Bar name="Turns" value={run.iteration} of={run.max_steps}>
          {run.iteration} of {run.max_steps}
        </Bar>
      )}
      <Bar name="Tokens" value={budget.tokens_used} of={budget.token_budget}>
        {number(budget.tokens_used)} of {number(budget.token_budget)}
        {budget.renews_at && (
          <>
            , resets <Until at={budget.renews_at} soon={0} />
          </>
        )}
      </Bar>
      <Bar name="Cost" value={usage.cost_usd ?? 0} of={budget.cost_budget_usd ?? 0}>
        {usage.cost_usd === null ? "price unknown" : dollars(usage.cost_usd)}
        {budget.cost_budget_usd === null ? ", no budget set" : ` of ${dollars(budget.cost_budget_usd)}`}
      </Bar>
    </section>
  );
}

/** `of` 0: there is no end to fill up to. */
function Bar({ name, value, of, children }: { name: string; value: number; of: number; children: ComponentChildren }) {
  return (
    <div class="bar">
      <span>
        <b>{name}</b> {children}
      </span>
      {of > 0 && <progress value={Math.min(value, of)} max={of} aria-label={name} />}
    </div>
  );
}

const number = (value: number): string => value.toLocaleString("en-US");
