/** Makes a tool of the tenant's own, or changes one: what everybody needs as fields, the rest as JSON. */

import { ask, at } from "../../api/request";
import { Unsent, useDraft } from "../../drafts/use-draft";
import { fieldsOf as objectOf } from "../../parts/edit-json";
import { Area, Choice, Line } from "../../parts/field";
import { Form } from "../../parts/form";
import { say } from "../../parts/toasts";
import { EFFECTS, type Tool } from "./tool";
import { bodyOf, type Fields, fieldsOf, NEW } from "./tool-fields";

interface Shown {
  /** Undefined: a new one. */
  tool?: Tool;
  onDone: (name: string) => void;
  onClose: () => void;
}

const KINDS = [
  ["http", "an address over https"],
  ["lambda", "a Lambda function of this account"],
] as const;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"].map((each): [string, string] => [each, each]);
const ASKS = [
  ["", "as follows from its effect and risk"],
  ["yes", "a person approves each call"],
  ["no", "nobody is asked"],
] as const;

export function ToolForm({ tool, onDone, onClose }: Shown) {
  const draft = useDraft(`tool/${tool?.name ?? ""}`, { version: tool?.version, ...(tool ? fieldsOf(tool) : NEW) });
  const { value: fields } = draft;
  const write = (name: keyof Fields) => (value: string) => draft.write({ ...fields, [name]: value });

  async function save(): Promise<void> {
    const body = bodyOf(fields, read("What it takes", fields.schema), read("The rest", fields.rest));
    if (tool) await ask("PUT", at("/v1/tools/{}", tool.name), { body: { ...body, version: fields.version } });
    else await ask("POST", "/v1/tools", { body });
    draft.drop();
    say(tool ? "Saved. It applies from the next turn of each session." : "The tool is saved. Call it once to see whether it works.");
    onDone(fields.name);
  }

  return (
    <Form act={tool ? "Save" : "Make it"} onSend={save} onClose={onClose} close="Close">
      {!tool && <Line label="Name: what models call it, such as order_status" required value={fields.name} write={write("name")} />}
      <Area label="What it does (models read this)" rows={3} value={fields.description} write={write("description")} />
      <Choice label="It calls" value={fields.kind} write={write("kind")} of={KINDS} />
      <Line
        label={fields.kind === "http" ? "URL; {name} in its path is an argument" : "Function"}
        required
        value={fields.target}
        write={write("target")}
      />
      {fields.kind === "http" && <Choice label="Method" value={fields.method} write={write("method")} of={METHODS} />}
      <Choice label="Effect" value={fields.effect} write={write("effect")} of={Object.entries(EFFECTS)} />
      <Choice label="Approval" value={fields.asks} write={write("asks")} of={ASKS} />
      <Area label="What it takes, as JSON Schema" rows={8} isCode value={fields.schema} write={write("schema")} />
      <Area label="The rest, as JSON" rows={8} isCode value={fields.rest} write={write("rest")} />
      <p class="hint">
        headers, parameters, risk, approver_role, approver_must_differ, timeout_seconds, repeatable, result_limit_bytes. A header's
        value is a text, or <code>{'{"secret": "NAME"}'}</code>. Values are shown to nobody: write those again that
        stand here as <code>***</code>.
      </p>
      <Unsent of={draft} />
    </Form>
  );
}

/** Throws Error, which names the field. */
function read(label: string, text: string): Record<string, unknown> {
  try {
    return objectOf(text);
  } catch (error) {
    throw new Error(`${label}: ${(error as Error).message}`);
  }
}
