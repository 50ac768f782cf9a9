// The official client of the protocol with a handshake, and its tasks: it polls the task until its result is there.
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
  const [{ session_id, intervention_id }] = waiting.structuredContent.items;
  await client.callTool({ name: "decide", arguments: { session_id, intervention_id, option: "approve" } });
  decided = true;
}
await client.close();
console.log(JSON.stringify({ version: transport.protocolVersion, statuses, decided, result }));
