/** The sessions above and below one: who called whom, who works, what each waits for and what it has cost. */

import { at, page } from "../../api/request";
import type { Page, Session, Shapes } from "../../api/shapes";
import { EVERY } from "../../live/how-often";
import { useEvery } from "../../live/watch";
import { to } from "../../navigation/places";
import { counted, dollars } from "../../parts/amounts";
import { Freshness } from "../../parts/fresh";
import { isOpen, SessionState } from "../../parts/session-state";
import { type Column, Table } from "../../parts/table";
import { Until } from "../../parts/time";
import { Text, visible } from "../../parts/words";

export type TreeNode = Shapes["TreeNode"];

const MOST = 200;

/** The way up, as links, where a call of another session, a schedule or a trigger has started this one. */
export function Above({ session: { origin, parent } }: { session: Session }) {
  if (origin)
    return (
      <p class="above">
        Started by <Origin of={origin} />
      </p>
    );
  if (!parent) return null;
  return (
    <nav class="above" aria-label="Called by">
      Called by{" "}
      {parent.chain.map((each, place) => (
        <span key={each.session_id}>
          {place > 0 && <span aria-hidden="true"> › </span>}
          <a href={to("sessions", each.session_id)} title={each.goal ?? undefined}>
            <Text>{each.agent_name}</Text>
          </a>
        </span>
      ))}
      {parent.about && (
        <>
          {" "}
          for <Text>{parent.about}</Text>
        </>
      )}
    </nav>
  );
}

/** A link to the schedule or the trigger. */
export function Origin({ of: { kind, id } }: { of: NonNullable<Session["origin"]> }) {
  return (
    <a href={to(`${kind}s`, id)}>
      {kind} {visible(id)}
    </a>
  );
}

/** All sessions below one that has called agents. */
export function Agents({ session }: { session: Session }) {
  const id = session.session_id;
  const path = at("/v1/sessions/{}/tree", id);
  const every = isOpen(session) ? EVERY.sessions : EVERY.anythingElse;
  const live = useEvery(`tree.${id}.${every}`, (signal) => page<Page<TreeNode>>(path, { limit: MOST }, signal), every);
  const found = live.value.value;
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      <Freshness of={live} reading="Reading the agents …" />
      {found && (
        <>
          <p class="hint">
            {sums(found.items)}
            {found.next_cursor && `. These are the first ${MOST}.`}
          </p>
          <Table label="Agents" columns={COLUMNS} rows={found.items} name={(each) => each.session_id} />
        </>
      )}
    </section>
  );
}

const COLUMNS: readonly Column<TreeNode>[] = [
  {
    title: "Agent",
    cell: (each) => (
      <span class="branch" style={{ paddingInlineStart: `${Math.max(0, each.depth - 1) * 1.25}rem` }}>
        {each.depth > 0 && <span aria-hidden="true">└ </span>}
        <Text>{each.agent_name}</Text>
        {each.item !== null && ` ${each.item}`}
      </span>
    ),
  },
  {
    title: "Goal",
    cell: (each) =>
      each.depth === 0 ? (
        <Text>{each.goal}</Text>
      ) : (
        <a class="goal" href={to("sessions", each.session_id)} title={each.goal}>
          <Text>{each.about || each.goal || each.session_id}</Text>
        </a>
      ),
  },
  {
    title: "State",
    cell: (each) => (
      <>
        <SessionState of={asSession(each)} /> {each.retry_at && <Until at={each.retry_at} soon={0} />}{" "}
        {each.questions.map((one) => (
          <a key={one.intervention_id} href={to("sessions", each.session_id)}>
            {one.type.replaceAll("_", " ")}
            {one.tool && (
              <>
                {" "}
                of <Text>{one.tool}</Text>
              </>
            )}
          </a>
        ))}
      </>
    ),
  },
  { title: "Tokens", isNumber: true, cell: (each) => each.tokens.toLocaleString("en-US") },
  { title: "Cost", isNumber: true, cell: (each) => (each.cost_usd === null ? "unknown" : dollars(each.cost_usd)) },
];

/** With what says whether its goal is met in the place where a session has it. */
function asSession({ state, state_reason, goal_met }: TreeNode): Parameters<typeof SessionState>[0]["of"] {
  return { state, state_reason, result: goal_met === null ? null : ({ goal_met } as Session["result"]) };
}

/** `3 sessions, 2 of them open, 1,234 tokens, $0.12 for models`. */
export function sums(nodes: readonly TreeNode[]): string {
  const tokens = nodes.reduce((sum, each) => sum + each.tokens, 0).toLocaleString("en-US");
  const isPriced = nodes.every((each) => each.cost_usd !== null);
  const cost = nodes.reduce((sum, each) => sum + (each.cost_usd ?? 0), 0);
  const paid = isPriced ? `${dollars(cost)} for models` : "at a price that is not known";
  return `${counted(nodes.length, "session")}, ${nodes.filter(isOpen).length} of them open, ${tokens} tokens, ${paid}`;
}
