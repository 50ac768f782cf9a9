/** What agents keep from one session to the next: by whom it is, from what, and whom it is for. */

import { useState } from "preact/hooks";

import { get } from "../../api/request";
import type { Page } from "../../api/shapes";
import { useEvery } from "../../live/watch";
import { written } from "../../drafts/use-draft";
import { narrow, narrowed, query, to } from "../../navigation/places";
import { Choice } from "../../parts/field";
import { Freshness } from "../../parts/fresh";
import { Heading, MainAct } from "../../parts/heading";
import { cursor, Pager } from "../../parts/pager";
import { Ago } from "../../parts/time";
import { Quoted, Text, visible } from "../../parts/words";
import { me } from "../../sign-in/tokens";
import { nameOf } from "../sessions/agents";
import { AgentFilter } from "../sessions/filters";
import { DeleteMemory } from "./delete-memory";
import { AddMemory, EditMemory, placeOf } from "./edit-memory";
import { byWhom, KINDS, type Memory } from "./words";

const PAGE = 25;

type Act = { kind: "add" } | { kind: "edit" | "delete"; memory: Memory };

export function Memories() {
  const of = (name: string) => query.value.get(name) || undefined;
  const asked = { agent_id: of("agent"), kind: of("kind"), limit: PAGE, cursor: cursor() };
  const live = useEvery(`memories.${me.value?.user}.${JSON.stringify(asked)}`, (signal) =>
    get<Page<Memory>>("/v1/memories", asked, signal),
  );
  const [act, setAct] = useState<Act>();
  const page = live.value.value;
  const closed = () => {
    setAct(undefined);
    live.refresh();
  };
  return (
    <>
      <Heading title="Memories">
        <MainAct act={written(placeOf()) ? "Go on with your memory" : "Add a memory"} onClick={() => setAct({ kind: "add" })} />
      </Heading>
      <p class="hint">What agents noted and people told them. Agents get the memories that fit their session.</p>
      <Filters />
      <Freshness of={live} reading="Reading the memories …" />
      {page?.items.length === 0 && (
        <p class="empty">
          {asked.agent_id || asked.kind ? "No memory fits. " : "Nothing is remembered yet."}
          {(asked.agent_id || asked.kind) && <a href={narrowed({ agent: "", kind: "", after: "" })}>Show all</a>}
        </p>
      )}
      <ul class="cards" aria-label="Memories">
        {page?.items.map((memory) => (
          <li key={memory.memory_id} class="card">
            <Card memory={memory} onAct={(kind) => setAct({ kind, memory })} />
          </li>
        ))}
      </ul>
      <Pager next={page?.next_cursor} />
      {act?.kind === "add" && <AddMemory onClose={closed} />}
      {act?.kind === "edit" && <EditMemory memory={act.memory} onClose={closed} />}
      {act?.kind === "delete" && <DeleteMemory memory={act.memory} onClose={closed} />}
    </>
  );
}

function Filters() {
  return (
    <form class="filters" role="search" aria-label="Memories" onSubmit={(event) => event.preventDefault()}>
      <AgentFilter />
      <Choice
        label="Kind"
        value={query.value.get("kind") ?? ""}
        write={(next) => narrow({ kind: next, after: "" })}
        of={[["", "All"], ...KINDS.map((kind) => [kind, kind] as const)]}
      />
    </form>
  );
}

function Card({ memory, onAct }: { memory: Memory; onAct: (kind: "edit" | "delete") => void }) {
  const { agent_id, kind, text, tags, origin, shared, source, updated_at } = memory;
  return (
    <>
      <p class="about">
        <span class="tag">{kind}</span>
        <span>
          for the agent <Text>{nameOf(agent_id)}</Text>
        </span>
        {!shared && <span class="tag warn">for one person alone</span>}
        {origin === "after_outside_data" && <span class="tag warn">noted after reading text from outside</span>}
      </p>
      <Quoted by={visible(byWhom(memory))}>{text}</Quoted>
      {tags.length > 0 && (
        <ul class="tags" aria-label="Tags">
          {tags.map((each) => (
            <li key={each} class="tag">
              <Text>{each}</Text>
            </li>
          ))}
        </ul>
      )}
      <p class="about">
        <span class="hint">
          Changed <Ago at={updated_at} />
        </span>
        {source.session_id && <a href={to("sessions", source.session_id)}>The session that it comes from</a>}
        <span class="acts">
          {written(placeOf(memory)) !== undefined && <span class="tag warn">not saved yet</span>}
          <button type="button" onClick={() => onAct("edit")}>
            Edit
          </button>
          <button type="button" class="danger" onClick={() => onAct("delete")}>
            Delete
          </button>
        </span>
      </p>
    </>
  );
}
