/** One question: what is asked, in whose words, about what, and the options with what they do; or what was decided. */

import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";

import { all, at, Refused } from "../../api/request";
import type { Intervention } from "../../api/shapes";
import { Long } from "../../parts/long";
import { Area } from "../../parts/field";
import { Refusal } from "../../parts/refusal";
import { Until } from "../../parts/time";
import { Text, visible } from "../../parts/words";
import { may } from "../../sign-in/tokens";
import { to } from "../../navigation/places";
import { dropDraft, Unsent, useDraft, written } from "../../drafts/use-draft";
import { useHasAsked } from "./asker";
import { Call, isWhole, useWhole } from "./call";
import { decide, type Chosen } from "./deciding";
import { Decision } from "./decision";
import { formOf, Given, needsMore, placeOf } from "./given";
import { isLinkAlone, Requests } from "./tool-form";
import { deciderOf } from "./who-decides";
import { byDefault, consequence, isOfTool, isPause, label, reason, speaker, title } from "./wording";

interface Asked {
  of: Intervention;
  /** Told of a decision that was made here. */
  onDecided?: (decided: Intervention) => void;
}

export function Question({ of, onDecided }: Asked) {
  const [late, setLate] = useState<{ decided: Intervention; isOurs: boolean }>();
  useEffect(() => setLate(undefined), [of.intervention_id]);
  const [isEdited, setEdited] = useState(() => written<string>(`${placeOf(of)}/opened`) === "modify");
  const here = late?.decided.intervention_id === of.intervention_id ? late : undefined;
  const shown = of.state === "pending" && here ? here.decided : of;
  useEffect(() => {
    // Whoever decided it: nothing that was written here is of use any more.
    if (shown.state !== "pending") dropDraft(placeOf(of));
  }, [shown.state, of.intervention_id]);
  return (
    <article class="question" aria-label={title(shown)}>
      <Asking of={shown} isEdited={isEdited && shown.state === "pending"} />
      {shown.state === "pending" ? (
        <Options
          key={of.intervention_id}
          of={of}
          onEdit={setEdited}
          onDecided={(decided, isOurs) => {
            setLate({ decided, isOurs });
            onDecided?.(decided);
          }}
        />
      ) : (
        <Decision of={shown} isNew={here !== undefined} isLate={here !== undefined && !here.isOurs} />
      )}
    </article>
  );
}

function Asking({ of, isEdited }: { of: Intervention; isEdited: boolean }) {
  const { question, agent_said: said, cause, calls = [] } = of.context;
  const why = reason(of);
  const isOwnWords = of.type === "approval_required" && why !== undefined;
  const isReview = of.type === "checkpoint_review";
  return (
    <>
      <h2 class="asked">{title(of)}</h2>
      {of.chain.length > 0 && <Chain of={of} />}
      {why && <p>{why}</p>}
      {isPause(of) && (
        <p>
          Paused by <Text>{of.context.requested_by ?? ""}</Text>.
        </p>
      )}
      {isOfTool(of) && <Requests of={of} />}
      {question && !isOwnWords && !isReview && !isOfTool(of) && !of.tool_call && (
        <>
          <Long by={speaker(of)}>{question}</Long>
          {of.context.message_id && <WholeMessage of={of} />}
        </>
      )}
      {cause && <Long by="What was wrong with the last plan">{cause}</Long>}
      {said && <Long by="The agent's reason">{said}</Long>}
      {of.tool_call && <Call of={of} call={of.tool_call} isEdited={isEdited} />}
      {calls.map((each) =>
        typeof each === "string" ? (
          <p key={each}>
            <code>{visible(each)}</code>
          </p>
        ) : (
          <Call key={each.call_id} of={of} call={each} callId={each.call_id} />
        ),
      )}
    </>
  );
}

/** The sessions above, in whose name this one asks: who asked whom for what, the first of all first. */
function Chain({ of }: { of: Intervention }) {
  return (
    <ol class="chain" aria-label="Who asked for this">
      {of.chain.map((each) => (
        <li key={each.session_id}>
          <a href={to("sessions", each.session_id)}>
            <Text>{each.agent_name}</Text>
          </a>
          {each.goal === null ? ", for a goal that is private" : <>, asked for: <Text>{each.goal}</Text></>}
        </li>
      ))}
      <li>
        <Text>{of.agent_name}</Text>, which asks you
      </li>
    </ol>
  );
}

/** Of a long question the two ends are shown; the conversation has it whole. */
function WholeMessage({ of }: { of: Intervention }) {
  const [text, setText] = useState<string>();
  if (text !== undefined) return <Long by={`${speaker(of)}, in full`}>{text}</Long>;
  const read = async () => {
    const messages = await all<{ message_id: string; content: unknown }>(at("/v1/sessions/{}/messages", of.session_id));
    const found = messages.find((each) => each.message_id === of.context.message_id);
    setText(typeof found?.content === "string" ? found.content : "The message no longer exists.");
  };
  return (
    <button type="button" onClick={() => void read().catch((error: Error) => setText(error.message))}>
      Read all of it
    </button>
  );
}

interface Deciding {
  of: Intervention;
  /** Told whether another input is written now. */
  onEdit: (is: boolean) => void;
  onDecided: (decided: Intervention, isOurs: boolean) => void;
}

function Options({ of, onEdit, onDecided }: Deciding) {
  const comment = useDraft(`${placeOf(of)}/comment`, "");
  const opened = useDraft(`${placeOf(of)}/opened`, of.type === "clarification_needed" ? "answer" : "");
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Error>();
  /** A decision that nobody has got. It is kept as it was made, until it is sent or something else is written. */
  const [unsent, setUnsent] = useState<Chosen>();
  const [isReady, setReady] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const hasAsked = useHasAsked(of.session_id);
  const { input: whole } = useWhole(of, of.tool_call);
  const decider = deciderOf(of, may, hasAsked || isRefused);
  const isNobody = isRefused && !of.approver_must_differ;
  // Another input was written and is not open: approving would run the agent's.
  const isChanged = opened.value !== "modify" && written(`${placeOf(of)}/modify`) !== undefined;

  async function choose(chosen: Chosen): Promise<void> {
    const decision = { comment: comment.value, key: crypto.randomUUID(), ...chosen };
    setBusy(true);
    setRefusal(undefined);
    setUnsent(undefined);
    try {
      const { decided, isOurs } = await decide(of, decision);
      onDecided(decided, isOurs);
    } catch (error) {
      if (error instanceof Refused && error.isPassing) setUnsent(decision);
      setRefusal(error as Error);
      if (error instanceof Refused && error.status === 403) setRefused(true);
    } finally {
      setBusy(false);
    }
  }

  function open(option: string, article: Element): void {
    // Whoever writes another input is not to approve the first one by mistake.
    const next = option === "modify" && opened.value === option ? "" : option;
    opened.write(next);
    setReady(false);
    onEdit(next === "modify");
    requestAnimationFrame(() => article.querySelector<HTMLElement>(".given :is(textarea, input, select)")?.focus());
  }

  const options = isNobody ? [] : decider.options;
  return (
    <>
      <section class="deciding" aria-label="Your decision" onInput={() => setUnsent(undefined)}>
        <Deadline of={of} />
        {decider.why && <p class="notice">{decider.why}</p>}
        {isChanged && (
          <p class="notice warning" role="status">
            What you changed is not sent. “Change it” shows it.
          </p>
        )}
        {options.includes(opened.value) && (
          <Given
            key={opened.value}
            option={opened.value}
            of={of}
            whole={whole}
            isBusy={isBusy}
            onReady={setReady}
            send={(input) => void choose(input ? { option: opened.value, input } : { option: opened.value })}
          />
        )}
        {options.length > 0 && (
          // Below what is asked for, and folded there: nobody is to take it for the answer.
          <details class="comment" open={!options.includes(opened.value) || comment.isWritten}>
            <summary>Comment (optional)</summary>
            <Area
              label={`Comment: it is recorded${options.includes("reject") ? ", and the agent reads it when you reject" : ""}`}
              rows={2}
              value={comment.value}
              write={comment.write}
            />
            <Unsent of={comment} />
          </details>
        )}
        <dl>
          {options.filter((option) => option !== "approve" || opened.value !== "modify").map((option) => (
            <Fragment key={option}>
              <dt>{label(option, of)}</dt>
              <dd id={`${of.intervention_id}-${option}`}>{consequence(option, of)}</dd>
            </Fragment>
          ))}
        </dl>
        {of.approver_must_differ && options.includes("approve") && (
          <p class="hint">If you comment, the agent has words of yours, and you cannot approve its next calls.</p>
        )}
      </section>
      {(options.length > 0 || refusal) && (
        <div class="deciders">
          {unsent ? (
            <div class="notice bad" role="alert">
              Your decision “{label(unsent.option, of)}” was not sent. {refusal?.message}{" "}
              <button type="button" disabled={isBusy} onClick={() => void choose(unsent)}>
                Send it again
              </button>
            </div>
          ) : (
            <Refusal error={refusal} />
          )}
          {options.includes(opened.value) && (
            <button
              type="submit"
              form={formOf(of)}
              class="primary"
              disabled={!isReady || isBusy}
              aria-describedby={`${of.intervention_id}-${opened.value}`}
            >
              {sending(opened.value, of)}
            </button>
          )}
          {options.map((option) =>
            // What is sent has its own button, and a changed input is not approved unchanged by mistake.
            (option === "answer" && opened.value === option) || (option === "approve" && opened.value === "modify") ? null : (
              <button
                key={option}
                type="button"
                class={["cancel", "reject"].includes(option) ? "danger" : opened.value === "" && !needsMore(option, of) && option === options[0] ? "primary" : ""}
                disabled={isBusy || (option === "approve" && !isWhole(of))}
                aria-expanded={needsMore(option, of) ? opened.value === option : undefined}
                aria-describedby={`${of.intervention_id}-${option}`}
                onClick={(event) => (needsMore(option, of) ? open(option, event.currentTarget.closest("article")!) : void choose({ option }))}
              >
                {option === "modify" && opened.value === option
                  ? "Back to the agent's input"
                  : option === "approve" && isChanged
                    ? "Approve the agent's input"
                    : label(option, of)}
                {needsMore(option, of) && opened.value !== option ? "…" : ""}
              </button>
            ),
          )}
        </div>
      )}
    </>
  );
}

/** On the button that sends what was given with an option. */
function sending(option: string, of: Intervention): string {
  if (option === "modify") return "Approve with this input";
  return isLinkAlone(of) ? "I have done that: go on" : `Send: ${label(option, of).toLowerCase()}`;
}

function Deadline({ of }: { of: Intervention }) {
  if (!of.timeout_at) return <p class="deadline">It waits until somebody decides.</p>;
  return (
    <p class="deadline">
      Expires <Until at={of.timeout_at} />. Without a decision {byDefault(of)}.
    </p>
  );
}
