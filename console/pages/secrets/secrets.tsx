/** Secrets of tools and MCP servers. A value goes in and is never shown again. For admins. */

import { useEffect, useState } from "preact/hooks";

import { all, ask, at } from "../../api/request";
import type { Shapes } from "../../api/shapes";
import { useEvery } from "../../live/watch";
import { Confirm } from "../../parts/dialog";
import { Line } from "../../parts/field";
import { Freshness } from "../../parts/fresh";
import { Heading, MainAct } from "../../parts/heading";
import { Form } from "../../parts/form";
import { Table } from "../../parts/table";
import { Ago } from "../../parts/time";
import { say } from "../../parts/toasts";
import { Text, visible } from "../../parts/words";
import { ToolTabs } from "../tools/tabs";

type Secret = Shapes["ToolSecret"];

const PATH = "/v1/tool-secrets";

/** Those that there are, for choosing one. */
export function useSecrets(): Secret[] {
  const [found, setFound] = useState<Secret[]>([]);
  useEffect(() => void all<Secret>(PATH).then(setFound, () => undefined), []);
  return found;
}

/** `chosen` is among them, whether it exists or not. */
export function secretNames(found: readonly Secret[], chosen: string): [string, string][] {
  const names = new Set([...found.map(({ name }) => name), ...(chosen ? [chosen] : [])]);
  return [...names].map((each) => [each, each]);
}

export function Secrets() {
  const live = useEvery<Secret[]>("secrets", () => all<Secret>(PATH));
  const [set, setSet] = useState<Secret | "new">();
  const [deleted, setDeleted] = useState<Secret>();
  const found = live.value.value;
  return (
    <>
      <Heading title="Secrets">
        {!set && <MainAct act="Set a secret" onClick={() => setSet("new")} />}
      </Heading>
      <ToolTabs />
      <p class="hint">Credentials that tools and MCP servers send. Nobody can see their values, neither here nor over the API.</p>
      <Freshness of={live} />
      {set && (
        <SecretForm
          key={set === "new" ? "" : set.name}
          secret={set === "new" ? undefined : set}
          onDone={() => {
            setSet(undefined);
            live.refresh();
          }}
        />
      )}
      {found?.length === 0 && !set && <p class="empty">There is none yet.</p>}
      {found && found.length > 0 && (
        <Table
          label="Secrets"
          rows={found}
          name={(each) => each.name}
          columns={[
            { title: "Name", cell: (each) => <code>{each.name}</code> },
            { title: "Sent to", cell: (each) => visible(each.hosts.join(", ")) || "nowhere: set it again, with its hosts" },
            {
              title: "Set",
              cell: (each) => (
                <>
                  <Ago at={each.updated_at} /> by <Text>{each.updated_by}</Text>
                </>
              ),
            },
            {
              title: "Do",
              cell: (each) => (
                <span class="acts">
                  <button type="button" aria-label={`Set a new value of ${each.name}`} onClick={() => setSet(each)}>
                    Set a new value
                  </button>
                  <button type="button" class="danger" aria-label={`Delete ${each.name}`} onClick={() => setDeleted(each)}>
                    Delete
                  </button>
                </span>
              ),
            },
          ]}
        />
      )}
      {deleted && (
        <Confirm
          title={`Delete the secret ${deleted.name}?`}
          act="Delete"
          isDangerous
          onAct={async () => {
            await ask("DELETE", at(`${PATH}/{}`, deleted.name));
            say("Deleted.");
            live.refresh();
          }}
          onClose={() => setDeleted(undefined)}
        >
          <p>It is gone for good.</p>
        </Confirm>
      )}
    </>
  );
}

function SecretForm({ secret, onDone }: { secret: Secret | undefined; onDone: () => void }) {
  const [name, setName] = useState(secret?.name ?? "");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState((secret?.hosts ?? []).join(", "));

  async function save(): Promise<void> {
      const named = hosts.split(",").map((each) => each.trim()).filter(Boolean);
      await ask("PUT", at(`${PATH}/{}`, name.trim()), { body: { value, hosts: named } });
      say("It is set and used at once.");
      onDone();
  }

  return (
    <Form act="Set it" onSend={save} onClose={onDone} close="Close">
      {secret ? (
        <p>
          A new value for <code>{secret.name}</code>. Calls that wait for an approval with the old one are asked about again.
        </p>
      ) : (
        <Line label="Name: letters, digits and _" required value={name} write={setName} />
      )}
      <Line
        label="Value (the whole header, including Bearer if the server expects it)"
        type="password"
        required
        value={value}
        write={setValue}
      />
      <Line label="Hosts that may get it, separated by commas" required value={hosts} write={setHosts} />
    </Form>
  );
}
