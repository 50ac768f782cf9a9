/** What agents can do: every tool, and one of them. */

import { useState } from "preact/hooks";

import { all } from "../../api/request";
import { useEvery } from "../../live/watch";
import { go, path, to } from "../../navigation/places";
import { written } from "../../drafts/use-draft";
import { may } from "../../sign-in/tokens";
import { Freshness } from "../../parts/fresh";
import { Heading, MainAct } from "../../parts/heading";
import { Table } from "../../parts/table";
import { visible } from "../../parts/words";
import type { Agent } from "../agents/agents";
import { OneTool } from "./one-tool";
import { ToolTabs } from "./tabs";
import { approval, EFFECTS, kindOf, type Listed, type Tool } from "./tool";
import { ToolForm } from "./tool-form";

export function Tools() {
  const live = useEvery<Listed>("tools", async () => ({ tools: await all<Tool>("/v1/tools"), agents: await all<Agent>("/v1/agents") }));
  const found = live.value.value;
  const [isMaking, setMaking] = useState(() => written("tool/") !== undefined);
  const name = path.value[1];
  if (name) return <OneTool key={name} name={name} live={live} />;
  return (
    <>
      <Heading title="Tools">
        {may("admin") && !isMaking && <MainAct act="New tool" onClick={() => setMaking(true)} />}
      </Heading>
      <ToolTabs />
      <Freshness of={live} />
      {isMaking && (
        <ToolForm
          onClose={() => setMaking(false)}
          onDone={(made) => {
            setMaking(false);
            live.refresh();
            go(to("tools", made));
          }}
        />
      )}
      {found && (
        <Table
          label="Tools"
          rows={found.tools}
          name={(each) => each.name}
          columns={[
            { title: "Name", cell: (each) => <a href={to("tools", each.name)}>{visible(each.name)}</a> },
            { title: "Kind", cell: kindOf },
            { title: "Effect", cell: (each) => EFFECTS[each.effect] },
            { title: "Risk", cell: (each) => each.risk },
            { title: "Approved by", cell: approval },
          ]}
        />
      )}
    </>
  );
}
