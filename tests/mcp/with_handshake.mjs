// The official client of the protocol with a handshake, and its tasks: it polls the task until its result is there. Its
// person decides at the address that it is told, here over the API.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
const transport = new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), { requestInit: { headers } });
const client = new Client({ name: "acta-test", version: "1.0.0" });
await client.connect(transport);
await client.listTools();
const statuses = [];
let result;
let decided = false;
const call = { name: "agent_default", arguments: { goal: process.env.MCP_GOAL } };
for await (const message of client.experimental.tasks.callToolStream(call, undefined, { task: {} })) {
  if (message.type === "error") throw message.error;
  if (message.type === "result") result = message.result;
  if (message.type !== "taskStatus") continue;
  statuses.push(message.task.status);
  if (decided || !message.task.statusMessage.startsWith("Waits for a person")) continue;
  const waiting = await client.callTool({ name: "list_waiting", arguments: {} });
  const [{ session_id, intervention_id }] = JSON.parse(waiting.content[0].text.split("\n")[1]).items;
  const asked = await client.callTool({ name: "decide", arguments: { session_id, intervention_id, option: "approve" } });
  if (!asked.isError || !asked.content[0].text.includes("/console/inbox/")) throw new Error("A model has decided.");
  const route = `/v1/sessions/${session_id}/interventions/${intervention_id}/resolve`;
  const sent = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: '{"option": "approve"}' };
  decided = (await fetch(new URL(route, process.env.MCP_URL), sent)).ok;
}
await client.close();
console.log(JSON.stringify({ version: transport.protocolVersion, statuses, decided, result }));
