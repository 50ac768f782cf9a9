// A program of a user: the official client of the stateless protocol, with a bearer. Another process comes back later.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

async function connected() {
  const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
  const transport = new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), { requestInit: { headers } });
  const capabilities = { elicitation: { form: {} } };
  const client = new Client({ name: "acta-test", version: "1.0.0" }, { capabilities, versionNegotiation: { mode: "auto" } });
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { option: "approve" } }));
  await client.connect(transport);
  return client;
}

async function called(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return JSON.parse(result.content[0].text.split("\n")[1]);
}

async function watched(client, session_id, until) {
  let after = "0";
  for (;;) {
    const seen = await called(client, "watch_session", { session_id, after, wait: 20 });
    if (until.includes(seen.session.state)) return seen.session;
    after = seen.cursor;
  }
}

const first = await connected();
const version = first.getNegotiatedProtocolVersion();
const { tools } = await first.listTools();
const { session_id } = await called(first, "agent_default", { goal: process.env.MCP_GOAL });
await first.close();

const second = await connected();
await watched(second, session_id, ["waiting_for_user"]);
const { items } = await called(second, "list_waiting", {});
const [asked] = items;
const { intervention_id, options } = asked;
const decided = await called(second, "decide", { session_id, intervention_id, option: "approve" });
const session = await watched(second, session_id, ["completed", "failed", "cancelled"]);
await second.close();
const names = tools.map((tool) => tool.name);
console.log(JSON.stringify({ version, names, asked: { type: asked.type, options }, decided: decided.resolution, session }));
