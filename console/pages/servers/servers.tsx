/** MCP servers, whose tools agents may have once an admin has confirmed them; and one of them. For admins. */

import { useState } from "preact/hooks";

import { all, at, get } from "../../api/request";
import { written } from "../../drafts/use-draft";
import { useEvery } from "../../live/watch";
import { go, path, to } from "../../navigation/places";
import { counted } from "../../parts/amounts";
import { DeleteNamed } from "../../parts/delete-named";
import { Owned } from "../../parts/owned";
import { Freshness } from "../../parts/fresh";
import { EditOrDelete, Heading, MainAct } from "../../parts/heading";
import { Ago } from "../../parts/time";
import { say } from "../../parts/toasts";
import { Text } from "../../parts/words";
import { ToolTabs } from "../tools/tabs";
import { ListedTools } from "./listed-tools";
import { clientOf, type Server } from "./server-fields";
import { ServerForm } from "./server-form";

export function Servers() {
  const name = path.value[1];
  return name ? <One key={name} name={name} /> : <List />;
}

function List() {
  const [isAdding, setAdding] = useState(written("server/") !== undefined);
  const live = useEvery<Server[]>("servers", () => all<Server>("/v1/mcp-servers"));
  const found = live.value.value;
  return (
    <>
      <Heading title="MCP servers">
        {!isAdding && <MainAct act="Add a server" onClick={() => setAdding(true)} />}
      </Heading>
      <ToolTabs />
      <p class="hint">Other people's programs that offer tools. Agents may use the tools that an admin has looked at and confirmed.</p>
      <Freshness of={live} reading="Reading …" />
      {isAdding && found && (
        <ServerForm
          taken={found.map((each) => each.name)}
          onClose={() => setAdding(false)}
          onDone={(made) => {
            say("The server is saved. Look at its tools, and confirm those that agents may use.");
            go(to("servers", made.name));
          }}
        />
      )}
      {found?.length === 0 && !isAdding && <p class="empty">There is none yet.</p>}
      <ul class="cards" aria-label="MCP servers">
        {found?.map((each) => (
          <li key={each.name} class="card">
            <a href={to("servers", each.name)}>{each.name}</a> <Text>{each.url}</Text>
            <div class="hint">{each.tools.length ? `${counted(each.tools.length, "tool")} confirmed` : "no tool is confirmed"}</div>
          </li>
        ))}
      </ul>
    </>
  );
}

function One({ name }: { name: string }) {
  const [isEditing, setEditing] = useState(written(`server/${name}`) !== undefined);
  const [isDeleting, setDeleting] = useState(false);
  const address = at("/v1/mcp-servers/{}", name);
  const live = useEvery(`server.${name}`, (signal) => get<Server>(address, undefined, signal));
  const server = live.value.value;
  return (
    <>
      <Heading title={name} back={["servers", "All MCP servers"]}>
        {server && !isEditing && <EditOrDelete onEdit={() => setEditing(true)} onDelete={() => setDeleting(true)} />}
      </Heading>
      <Freshness of={live} />
      {server && isEditing && (
        <ServerForm
          server={server}
          onClose={() => setEditing(false)}
          onDone={() => {
            say("Saved.");
            setEditing(false);
            live.refresh();
          }}
        />
      )}
      {server && (
        <>
          {!isEditing && <About server={server} />}
          <ListedTools server={server} onDone={live.refresh} />
        </>
      )}
      {server && isDeleting && (
        <DeleteNamed
          title={`Delete the server ${name}?`}
          path={address}
          version={server.version}
          onClose={() => setDeleting(false)}
          onDone={() => {
            say("The server is deleted, and its tools with it.");
            go(to("servers"));
          }}
        >
          <p>Agents no longer have its tools.</p>
        </DeleteNamed>
      )}
    </>
  );
}

function About({ server }: { server: Server }) {
  const { url, auth, timeout_seconds, applied, version, updated_at } = server;
  const client = clientOf(server);
  return (
    <>
      <dl>
        <dt>URL</dt>
        <dd>
          <Text>{url}</Text>
        </dd>
        <dt>Calls prove who they are</dt>
        <dd>
          {auth ? (
            <>
              {client && "by client credentials, "}with the secret <code>{client?.secret ?? ("secret" in auth && auth.secret)}</code>
              {client && (
                <>
                  , which goes to <Text>{client.token_url}</Text> and nowhere else
                </>
              )}
            </>
          ) : (
            "not at all"
          )}
        </dd>
        <dt>A call may take</dt>
        <dd>{timeout_seconds} s</dd>
        <dt>Version</dt>
        <dd>
          {version}, <Ago at={updated_at} />
        </dd>
      </dl>
      <Owned by={applied} />
    </>
  );
}
