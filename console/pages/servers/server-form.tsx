/** Names an MCP server, or changes what is said of one. */

import { ask, at } from "../../api/request";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { to } from "../../navigation/places";
import { Choice, Line } from "../../parts/field";
import { Form } from "../../parts/form";
import { Text } from "../../parts/words";
import { secretNames, useSecrets } from "../secrets/secrets";
import { clientOf, type Fields, fieldsOf, sent, type Server } from "./server-fields";

interface Shown {
  /** Undefined: a new one. */
  server?: Server;
  /** Names that are taken. */
  taken?: readonly string[];
  onDone: (server: Server) => void;
  onClose: () => void;
}

export function ServerForm({ server, taken = [], onDone, onClose }: Shown) {
  const draft = useDraft(`server/${server?.name ?? ""}`, { version: server?.version, ...fieldsOf(server) });
  const { value: fields } = draft;
  const secrets = useSecrets();
  const client = server && clientOf(server);
  const write = (name: keyof Fields) => (value: string) => draft.write({ ...fields, [name]: value });

  async function save(): Promise<void> {
    if (!server && taken.includes(fields.name)) throw new Error("There is a server of this name already.");
    const { url, seconds, secret, version } = fields;
    const auth = client && server ? sent(server.auth) : secret ? { secret } : null;
    const body = { url: url.trim(), timeout_seconds: Number(seconds), auth, version };
    const { data } = await ask<Server>("PUT", at("/v1/mcp-servers/{}", fields.name), { body });
    draft.drop();
    onDone(data);
  }

  return (
    <Form act={server ? "Save" : "Add it"} onSend={save} onClose={onClose} close="Close">
      {!server && <Line label="Name: small letters, digits and -" required value={fields.name} write={write("name")} />}
      <Line label="URL" required value={fields.url} write={write("url")} />
      {server && fields.url !== server.url && (
        <p class="notice warning">A new URL removes all confirmations: agents have none of its tools until you confirm them again.</p>
      )}
      <Line label="The most seconds that a call may take" type="number" required value={fields.seconds} write={write("seconds")} />
      {client ? (
        <p class="hint">
          Its client credentials, with the secret <code>{client.secret}</code>, stay as they are. The secret goes to{" "}
          <Text>{client.token_url}</Text> and nowhere else.
        </p>
      ) : (
        <>
          <Choice label="Secret, as the header Authorization" value={fields.secret} write={write("secret")} of={[["", "None"], ...secretNames(secrets, fields.secret)]} />
          <p class="hint">
            Values are set under <a href={to("secrets")}>Secrets</a>, and shown to nobody.
          </p>
        </>
      )}
      <Unsent of={draft} />
    </Form>
  );
}
