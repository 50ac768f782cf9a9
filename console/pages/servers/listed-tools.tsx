/** What a server says of its tools now, beside what was confirmed, and confirming them. Its words are quoted. */

import { useEffect, useState } from "preact/hooks";

import { write } from "../../api/exact-json";
import { ask, at } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { counted } from "../../parts/amounts";
import { Diff } from "../../parts/diff";
import { Line, Tick } from "../../parts/field";
import { Json } from "../../parts/json";
import { Long } from "../../parts/long";
import { Refusal } from "../../parts/refusal";
import { say } from "../../parts/toasts";
import { useAct } from "../../parts/use-act";
import { Text, visible } from "../../parts/words";
import { type Listed, proposed, sent, type Server, type Wish, wishOf } from "./server-fields";

const STATES: Record<Listed["state"], [tone: string, text: string]> = {
  new: ["", "not confirmed: no agent has it"],
  confirmed: ["good", "✔ confirmed as it is"],
  changed: ["warn", "changed since: calls are refused"],
  gone: ["warn", "the server lists it no longer"],
  unusable: ["bad", "✘ not usable"],
};

interface Shown {
  server: Server;
  onDone: () => void;
}

export function ListedTools({ server, onDone }: Shown) {
  const [listed, setListed] = useState<Listed[]>();
  const [broken, setBroken] = useState<string | null>(null);
  const [wishes, setWishes] = useState<Record<string, Wish>>({});
  const { isBusy, failure, act } = useAct();
  const path = at("/v1/mcp-servers/{}", server.name);
  const chosen = Object.keys(wishes).length;

  const read = async () => {
    const { data } = await ask<Shapes["ListedMcpTools"]>("POST", `${path}/refresh`);
    setListed(data.items);
    setBroken(data.broken);
    setWishes({});
  };
  useEffect(() => void act(read), [server.version, server.created_at]);

  const confirm = async () => {
    await ask("POST", `${path}/confirm`, { body: { tools: wishes } });
    say(`Agents may have ${counted(chosen, "tool")} as you saw ${chosen === 1 ? "it" : "them"}.`);
    onDone();
  };
  /** The server is written with all others. */
  const takeAway = async (name: string) => {
    const { url, auth, timeout_seconds, version } = server;
    const tools = Object.fromEntries(server.tools.filter(({ tool }) => tool !== name).map((each) => [each.tool, wishOf(each)]));
    await ask("PUT", path, { body: { url, auth: sent(auth), timeout_seconds, version, tools } });
    say("Agents no longer have it.");
    onDone();
  };

  return (
    <section aria-labelledby="listed">
      <div class="heading">
        <h2 id="listed">What the server says now</h2>
        <button type="button" disabled={isBusy} onClick={() => void act(read)}>
          Ask it again
        </button>
      </div>
      <Refusal error={failure} />
      {isBusy && !listed && <p class="hint">Asking the server …</p>}
      {broken && <p class="notice warning">These are not all of its tools. {visible(broken)}</p>}
      {listed?.length === 0 && <p class="empty">It has no tools.</p>}
      <ul class="cards" aria-label="Tools of the server">
        {listed?.map((each) => (
          <li key={each.tool} class="card">
            <One
              of={each}
              wish={wishes[each.tool]}
              onWish={(wish) => {
                const { [each.tool]: _, ...others } = wishes;
                setWishes(wish ? { ...others, [each.tool]: wish } : others);
              }}
            />
            {each.confirmed && (
              <button type="button" class="danger" disabled={isBusy} onClick={() => void act(() => takeAway(each.tool))}>
                Remove it from agents
              </button>
            )}
          </li>
        ))}
      </ul>
      {chosen > 0 && (
        <div class="deciders">
          <button type="button" class="primary" disabled={isBusy} onClick={() => void act(confirm)}>
            Confirm {counted(chosen, "tool")} as shown
          </button>
        </div>
      )}
    </section>
  );
}

interface OfOne {
  of: Listed;
  wish: Wish | undefined;
  onWish: (wish: Wish | undefined) => void;
}

function One({ of, wish, onWish }: OfOne) {
  const { name, state, reason, description, cut_after, input_schema, annotations, confirmed } = of;
  const [tone, text] = STATES[state];
  const isOffered = state !== "gone" && state !== "unusable";
  const isChanged = state === "changed" && confirmed !== null;
  const hints = Object.entries(annotations).map(([hint, is]) => `${hint} ${is}`);
  return (
    <>
      <p class="about">
        <code>{visible(name)}</code> <span class={`tag ${tone}`}>{text}</span>
      </p>
      {reason && <p class="notice bad">{visible(reason)}</p>}
      {isChanged && confirmed.description !== description ? (
        <Diff before={confirmed.description} after={description} label="The confirmed description, and the present one" />
      ) : (
        <Long by={state === "gone" ? "What was confirmed" : "The server's description"}>{description || confirmed?.description || "Nothing."}</Long>
      )}
      {cut_after && (
        <p class="hint">Models get the first {cut_after} characters of this description, and no more.</p>
      )}
      {isChanged && written(confirmed.input_schema) !== written(input_schema) && (
        <Diff before={written(confirmed.input_schema)} after={written(input_schema)} label="What it took, and what it takes now" />
      )}
      {state !== "gone" && (
        <details>
          <summary>What it takes</summary>
          <Json value={input_schema} label={`What ${name} takes`} />
        </details>
      )}
      {hints.length > 0 && <p class="hint">The server hints: {visible(hints.join(", "))}.</p>}
      {confirmed && (
        <p class="hint">
          Confirmed by <Text>{confirmed.confirmed_by}</Text>; {confirmed.confirmed_read ? "only reads" : "may change things"};{" "}
          {confirmed.high_stakes ? "a person approves each call" : "nobody is asked"}
          {confirmed.approver_role && (
            <>
              , with the role <Text>{confirmed.approver_role}</Text>
            </>
          )}
          .
        </p>
      )}
      {isOffered && (
        <div class="fields">
          <Tick
            label={confirmed ? "Confirm it again, as shown here" : "Confirm it as shown here"}
            is={wish !== undefined}
            write={(is) => onWish(is ? proposed(of) : undefined)}
          />
          {wish && <Wishes of={of} wish={wish} onWish={onWish} />}
        </div>
      )}
    </>
  );
}

function Wishes({ of: { name, annotations }, wish, onWish }: OfOne & { wish: Wish }) {
  return (
        <fieldset>
          <legend>
            How agents may use <code>{visible(name)}</code>
          </legend>
          {annotations["readOnlyHint"] && (
            <Tick
              label="It only reads: I agree with what the server says"
              is={wish.confirmed_read}
              write={(is) => onWish({ ...wish, confirmed_read: is, high_stakes: !is })}
            />
          )}
          <Tick label="A person approves each call" is={wish.high_stakes} write={(is) => onWish({ ...wish, high_stakes: is })} />
          {wish.high_stakes && (
            <Line
              label="With this role (empty: any member)"
              value={wish.approver_role ?? ""}
              write={(role) => onWish({ ...wish, approver_role: role.trim() || null })}
            />
          )}
        </fieldset>
  );
}

const written = (value: unknown): string => write(value, 2);
