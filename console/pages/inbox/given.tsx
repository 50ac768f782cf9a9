/** What a person gives with an option: an answer, a result, a hint, another input, a higher limit. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { parse, write } from "../../api/exact-json";
import type { Intervention } from "../../api/shapes";
import { type Draft, Unsent, useDraft } from "../../drafts/use-draft";
import { dollars } from "../../parts/amounts";
import { Diff } from "../../parts/diff";
import type { Input } from "./call";
import { Area, Line, Tick } from "../../parts/field";
import { Preview } from "./preview";
import { FormFields, type FormValues, inputOf } from "./tool-form";
import { visible } from "../../parts/words";
import { isOfTool } from "./wording";

interface Asked {
  of: Intervention;
  /** The call's whole input, where there is a call. */
  whole: Input | undefined;
  send: (input: Input | undefined) => void;
  /** Called with whether it can be sent. The button that sends it stands with the other options. */
  onReady: (is: boolean) => void;
  isBusy: boolean;
}

/** Where what is written about a question is kept. */
export function placeOf({ intervention_id }: Intervention): string {
  return `question/${intervention_id}`;
}

/** The id of the form that is open; a session's page may show several questions. */
export function formOf({ intervention_id }: Intervention): string {
  return `given-${intervention_id}`;
}

/** Whether the option needs more than a click. */
export function needsMore(option: string, one: Intervention): boolean {
  if (option === "retry") return one.tool_call === null;
  return ["answer", "modify", "raise", "record"].includes(option);
}

export function Given({ option, ...asked }: Asked & { option: string }) {
  switch (option) {
    case "answer":
      return isOfTool(asked.of) ? <ToolAnswer {...asked} /> : <Words {...asked} name="text" says="Your answer" />;
    case "record":
      return <Words {...asked} name="result" says="How it ended (the agent reads this)" />;
    case "retry":
      return <Words {...asked} name="hint" says="A hint for the agent (may stay empty)" isOptional />;
    case "raise":
      return <Limits {...asked} />;
    default:
      return <Changed {...asked} />;
  }
}

function Words({ name, says, isOptional, ...asked }: Asked & { name: string; says: string; isOptional?: boolean }) {
  const draft = useDraft(`${placeOf(asked.of)}/${name}`, "");
  const text = draft.value;
  const isReady = isOptional || text.trim() !== "";
  return (
    <Form {...asked} draft={draft} isReady={isReady} give={() => (text.trim() ? { [name]: text } : undefined)}>
      <Area label={says} value={text} write={draft.write} />
    </Form>
  );
}

/** What is short is filled in with what the next call needs, to the last digit. The other limit stays as it is: an empty field is not sent. */
function Limits(asked: Asked) {
  const { context } = asked.of;
  const { token_budget_needed: tokensNeeded, cost_budget_usd_needed: dollarsNeeded } = context;
  const draft = useDraft(`${placeOf(asked.of)}/raise`, { tokens: String(tokensNeeded ?? ""), dollars: String(dollarsNeeded ?? "") });
  const { tokens, dollars: usd } = draft.value;
  const { cost_usd: spent, cost_budget_usd: most } = context;
  const number = (value: number) => value.toLocaleString("en-US");
  const inTokens = (
    <Line
      key="tokens"
      label={tokensNeeded ? "Tokens in all" : "Tokens in all (optional)"}
      type="number"
      value={tokens}
      write={(next) => draft.write({ tokens: next, dollars: usd })}
    />
  );
  const inDollars = typeof most === "number" && (
    <Line
      key="dollars"
      label={dollarsNeeded ? "US dollars in all" : "US dollars in all (optional)"}
      type="number"
      value={usd}
      write={(next) => draft.write({ tokens, dollars: next })}
    />
  );
  return (
    <Form
      {...asked}
      draft={draft}
      isReady={tokens !== "" || usd !== ""}
      give={() => ({
        ...(tokens && { token_budget: Number(tokens) }),
        ...(usd && { cost_budget_usd: Number(usd) }),
      })}
    >
      <p class="hint">
        Used so far: {number(context.total_tokens ?? 0)} of {number(context.token_budget ?? 0)} tokens
        {typeof spent === "number" && `, ${dollars(spent)}`}
        {typeof most === "number" && ` of ${dollars(most)}`}. {tokensNeeded && `The next call needs ${number(tokensNeeded)} tokens in all. `}
        {dollarsNeeded && `The next call needs $${dollarsNeeded} in all.`}
      </p>
      {dollarsNeeded && !tokensNeeded ? [inDollars, inTokens] : [inTokens, inDollars]}
    </Form>
  );
}

/** Texts and yes or no are edited as they are, all else as JSON; what differs is shown before it is sent. */
function Changed(asked: Asked) {
  const before = write(asked.whole ?? {}, 2);
  const draft = useDraft<string | null>(`${placeOf(asked.of)}/modify`, null);
  const after = draft.value ?? before;
  const [isJson, setJson] = useState(false);
  const parsed = parseInput(after);
  if (!asked.whole) return <p class="hint">The whole input is being read…</p>;
  const change = (name: string, value: unknown) => draft.write(write({ ...parsed.input, [name]: value }, 2));
  const fields = Object.entries(parsed.input ?? {}).filter(([, value]) => ["string", "boolean"].includes(typeof value));
  return (
    <Form
      {...asked}
      draft={draft}
      isReady={parsed.input !== undefined && write(parsed.input) !== write(asked.whole)}
      give={() => ({ input: parsed.input })}
    >
      {fields.map(([name, value]) =>
        typeof value === "boolean" ? (
          <Tick key={name} label={visible(name)} is={value} write={(is) => change(name, is)} />
        ) : (
          <Area key={name} label={visible(name)} rows={Math.min(10, String(value).split("\n").length)} value={String(value)} write={(text) => change(name, text)} />
        ),
      )}
      <details
        open={isJson || !parsed.input || fields.length < Object.keys(parsed.input).length}
        onToggle={(event) => setJson(event.currentTarget.open)}
      >
        <summary>Edit it as JSON</summary>
        <Area label="The whole input, as JSON" rows={10} isCode value={after} write={draft.write} />
      </details>
      {parsed.problem && (
        <p class="notice bad" role="status">
          {parsed.problem}
        </p>
      )}
      <h3>What you change</h3>
      <Diff
        before={parsed.input ? linesOf(asked.whole) : before}
        after={parsed.input ? linesOf(parsed.input) : after}
        label="What you change"
      />
      {parsed.input && <Preview call={asked.of.tool_call!} input={parsed.input} of={asked.of} />}
    </Form>
  );
}

/** By the name of each field, its texts line by line. */
export function linesOf(input: Input): string {
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : write(value, 2)}`)
    .join("\n");
}

/** The object in a text, with its numbers as they are written; or why there is none. */
export function parseInput(text: string): { input?: Input; problem?: string } {
  try {
    const input = parse(text);
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return { input: input as Input };
    return { problem: "The input is an object: it begins with { and ends with }." };
  } catch (error) {
    return { problem: `This is no JSON yet: ${(error as Error).message}` };
  }
}

function ToolAnswer(asked: Asked) {
  const draft = useDraft<FormValues>(`${placeOf(asked.of)}/form`, {});
  return (
    <Form {...asked} draft={draft} isReady give={() => inputOf(asked.of, draft.value)}>
      <FormFields of={asked.of} values={draft.value} change={draft.write} />
    </Form>
  );
}

interface FormParts extends Asked {
  draft: Pick<Draft<unknown>, "drop" | "isWritten" | "isKept">;
  isReady: boolean;
  give: () => Input | undefined;
  children: ComponentChildren;
}

function Form({ of, send, onReady, isBusy, draft, isReady, give, children }: FormParts) {
  useEffect(() => onReady(isReady), [isReady]);
  return (
    <form
      id={formOf(of)}
      class="given"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isBusy) send(give());
      }}
    >
      {children}
      <Unsent of={draft} />
    </form>
  );
}
