// The official client of 2025-06-18, which knows no newer version and no tasks: it hands over a goal through a path with
// a slash at its end, tries to approve a call itself, and reads the result after its person has decided over the API.
import { Client } from "mcp-sdk-2025-06-18/client/index.js";
import { StreamableHTTPClientTransport } from "mcp-sdk-2025-06-18/client/streamableHttp.js";

const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
const transport = new StreamableHTTPClientTransport(new URL(`${process.env.MCP_URL}/`), { requestInit: { headers } });
const client = new Client({ name: "acta-test", version: "1.0.0" }, { capabilities: { elicitation: {} } });
await client.connect(transport);
const names = (await client.listTools()).tools.map(({ name }) => name);
const call = async (name, given) => (await client.callTool({ name, arguments: given })).content[0].text;
const told = async (name, given) => JSON.parse((await call(name, given)).split("\n")[1]);

const { session_id } = await told("agent_default", { goal: process.env.MCP_GOAL });
let seen = { session: { state: "queued", interventions: [] }, cursor: "0" };
let refused = "";
while (!["completed", "failed", "cancelled"].includes(seen.session.state)) {
  seen = await told("watch_session", { session_id, after: seen.cursor, wait: 20 });
  const [waiting] = seen.session.interventions;
  if (!waiting || refused) continue;
  const { intervention_id } = waiting;
  refused = await call("decide", { session_id, intervention_id, option: "approve" });
  const route = `/v1/sessions/${session_id}/interventions/${intervention_id}/resolve/`;
  const sent = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: '{"option": "approve"}' };
  if (!(await fetch(new URL(route, process.env.MCP_URL), sent)).ok) throw new Error("The person could not decide.");
}
await client.close();
console.log(JSON.stringify({ version: transport.protocolVersion, names, refused, session: seen.session }));
