/** One session: where it is, what it does, and what a person can do about it. */

import { useMemo, useState } from "preact/hooks";

import { Refused } from "../../api/refused";
import type { Session } from "../../api/shapes";
import { Freshness } from "../../parts/fresh";
import { Json } from "../../parts/json";
import { say } from "../../parts/toasts";
import { Quoted } from "../../parts/words";
import { to } from "../../navigation/places";
import { may } from "../../sign-in/tokens";
import { Question } from "../inbox/question";
import { Above, Agents } from "./agents";
import { Answer, Files } from "./answer";
import { Controls, SaySomething } from "./controls";
import { PlanSection } from "./plan";
import { type Feed, isOver } from "./feed";
import { useFeed } from "./session-feed";
import { Progress, Summary } from "./summary";
import { Conversation } from "./texts";
import { Trace } from "./trace";
import { Waterfall } from "./waterfall";

export function SessionPage({ id }: { id: string }) {
  const live = useFeed(id);
  const feed = live.value.value;
  const conversation = useMemo(() => new Conversation(id), [id]);
  const [chosen, choose] = useState<string>();
  const over = feed !== undefined && isOver(feed.page.session.state);
  const seq = chosen === undefined ? undefined : Number(/\d+/.exec(chosen)?.[0]);
  const [isWaterfall, setWaterfall] = useState(false);
  const failure = live.failure.value;
  const showRow = (key: string) => {
    setWaterfall(false);
    choose(key);
  };
  if (failure instanceof Refused && failure.status === 404) return <Gone />;
  return (
    <div class="session">
      <h1 tabIndex={-1}>Session</h1>
      <Freshness of={live} reading="Reading …" />
      {feed && (
        <>
          <TriedPrompts of={feed.page.session.prompts} />
          <Above session={feed.page.session} />
          <Summary session={feed.page.session} live={live} conversation={conversation} />
          <Questions session={feed.page.session} onDecided={live.refresh} />
          {feed.page.session.interventions.length > 0 && <h2 class="apart">Steer this session</h2>}
          <Controls session={feed.page.session} onDone={live.refresh} seq={seq} />
          <Progress session={feed.page.session} />
          {feed.page.session.children && <Agents session={feed.page.session} />}
          {over && <Results feed={feed} onDone={live.refresh} />}
          {feed.page.session.plan && (
            <PlanSection
              session={feed.page.session}
              plan={feed.page.session.plan}
              events={feed.events}
              onChoose={showRow}
              onDone={live.refresh}
            />
          )}
          {feed.page.partial && (
            <Quoted by="The model is writing">{feed.page.partial.text}</Quoted>
          )}
          {!over && <Results feed={feed} onDone={live.refresh} />}
          <SaySomething session={feed.page.session} onDone={live.refresh} />
          <section aria-labelledby="trace">
            <h2 id="trace">Trace</h2>
            {feed.page.has_more && (
              <p class="hint" role="status">
                Reading: {feed.events.length.toLocaleString("en-US")} of {feed.page.session.last_seq.toLocaleString("en-US")} events
              </p>
            )}
            <p class="acts controls">
              <button type="button" aria-pressed={!isWaterfall} onClick={() => setWaterfall(false)}>
                Tree
              </button>
              <button type="button" aria-pressed={isWaterfall} onClick={() => setWaterfall(true)}>
                Waterfall
              </button>
            </p>
            {isWaterfall ? (
              <Waterfall sessionId={id} seq={feed.page.session.last_seq} />
            ) : (
              <Trace events={feed.events} isOver={over} conversation={conversation} chosen={chosen} onChoose={choose} />
            )}
          </section>
          <details>
            <summary>As curl and JSON</summary>
            <p>
              <code>{curl(id)}</code>{" "}
              <button
                type="button"
                onClick={() => navigator.clipboard.writeText(curl(id)).then(() => say("Copied."), () => say("The browser does not let this page copy."))}
              >
                Copy as curl
              </button>
            </p>
            <Json value={feed.page.session} label="The session as JSON" />
          </details>
        </>
      )}
    </div>
  );
}

/** Versions of prompts that an admin tries here, and nowhere else. */
function TriedPrompts({ of }: { of: Session["prompts"] }) {
  const tried = Object.entries(of ?? {});
  return tried.length ? (
    <div class="notice warning">
      {tried.map(([name, version]) => (
        <p key={name}>
          This session tries version {version} of the prompt {may("admin") ? <a href={to("prompts", name)}>{name}</a> : name}. Others work by
          the version in force.
        </p>
      ))}
    </div>
  ) : null;
}

/** With the name of the variable that has the token, and never with a token. */
export function curl(id: string): string {
  const url = `${location.origin}/v1/sessions/${encodeURIComponent(id)}?after=0`;
  return `curl -H "Authorization: Bearer $ACTA_TOKEN" '${url}'`;
}

function Results({ feed, onDone }: { feed: Feed; onDone: () => void }) {
  return (
    <>
      <Answer session={feed.page.session} events={feed.events} onDone={onDone} key={feed.page.session.run?.run_id} />
      <Files events={feed.events} />
    </>
  );
}

/** What it waits for a person to decide, oldest first. */
function Questions({ session, onDecided }: { session: Session; onDecided: () => void }) {
  return session.interventions.length ? (
    <section aria-label="Waits for a decision">
      {session.interventions.map((each) => (
        <Question key={each.intervention_id} of={each} onDecided={onDecided} />
      ))}
    </section>
  ) : null;
}

function Gone() {
  return (
    <>
      <h1 tabIndex={-1}>There is no such session</h1>
      <p>
        It was deleted, or it is not yours to see. All others are in the <a href={to("sessions")}>list of sessions</a>.
      </p>
    </>
  );
}
