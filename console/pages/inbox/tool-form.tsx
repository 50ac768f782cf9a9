/** The fields that the server of a tool asks for. Names, descriptions and choices are its words, shown as text. */

import { useId, useState } from "preact/hooks";

import { NumberLiteral } from "../../api/exact-json";
import type { Intervention } from "../../api/shapes";
import { Tick } from "../../parts/field";
import { Quoted, Text, visible } from "../../parts/words";
import { isOfTool } from "./wording";

interface Choices {
  enum?: unknown[];
  /** What is shown of each value of `enum`. */
  enumNames?: unknown[];
  oneOf?: { const: unknown; title?: string }[];
  anyOf?: { const: unknown; title?: string }[];
}

interface Property extends Choices {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  /** Of an array: what may be chosen. */
  items?: Choices;
}

interface Request {
  message: string;
  url?: string;
  schema?: { properties: Record<string, Property>; required?: string[] };
}

/** By the form's key, then by the field's name: what was typed. */
export type FormValues = Record<string, Record<string, Value>>;

type Value = string | boolean | readonly string[];

function requestsOf(one: Intervention): [key: string, request: Request][] {
  return Object.entries((one.context["requests"] ?? {}) as Record<string, Request>);
}

/** What was typed into the forms, as the decision has it. */
export function inputOf(one: Intervention, values: FormValues): Record<string, unknown> {
  const forms = requestsOf(one).flatMap(([key, { schema }]) => (schema ? [[key, typed(schema.properties, values[key] ?? {})]] : []));
  return Object.fromEntries(forms) as Record<string, unknown>;
}

/** What was typed, as its field's type has it. What was left empty is left out. */
export function typed(
  properties: Record<string, Property>,
  values: Record<string, Value>,
): Record<string, unknown> {
  const fields: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const value = values[name] ?? property.default;
    if (property.type === "boolean") fields.push([name, value === true]);
    else if (value === undefined || value === "" || (Array.isArray(value) && !value.length)) continue;
    else if (property.type === "number" || property.type === "integer") fields.push([name, numberOf(String(value))]);
    else fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

/** With the digits that were typed, where JSON writes a number so. */
function numberOf(text: string): unknown {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? new NumberLiteral(text) : Number(text);
}

/** What may be chosen, and what is shown of it; undefined: anything may be typed. */
export function choicesOf({ enum: values, enumNames, oneOf, anyOf }: Choices): [value: string, shown: string][] | undefined {
  const named = oneOf ?? anyOf;
  if (named) return named.map((each) => [String(each.const), each.title ?? String(each.const)]);
  return values?.map((each, index) => [String(each), String(enumNames?.[index] ?? each)]);
}

/** Whether the server of a tool wants something done elsewhere, and no answer. */
export function isLinkAlone(of: Intervention): boolean {
  return isOfTool(of) && requestsOf(of).every(([, { schema }]) => !schema);
}

/** The server whose tool it is, by its name here. */
function serverOf(of: Intervention): string {
  return visible(of.tool_call!.name.split("__")[0]!);
}

/** What the server says, without the fields. */
export function Requests({ of }: { of: Intervention }) {
  return (
    <>
      {requestsOf(of).map(([key, request]) => (
        <Quoted key={key} by={`The server ${serverOf(of)} says`}>
          {request.url ? `${request.message}\n\nIt wants you to open: ${request.url}` : request.message}
        </Quoted>
      ))}
    </>
  );
}

interface Fields {
  of: Intervention;
  values: FormValues;
  change: (values: FormValues) => void;
}

export function FormFields({ of, values, change }: Fields) {
  return (
    <>
      {requestsOf(of).map(
        ([key, { schema }]) =>
          schema && (
            <fieldset key={key} class="fields">
              <legend>The server {serverOf(of)} wants to know, in its words</legend>
              {Object.entries(schema.properties).map(([name, property]) => (
                <Field
                  key={name}
                  name={name}
                  property={property}
                  isNeeded={schema.required?.includes(name) ?? false}
                  value={values[key]?.[name] ?? (property.default as Value | undefined)}
                  change={(value) => change({ ...values, [key]: { ...values[key], [name]: value } })}
                />
              ))}
            </fieldset>
          ),
      )}
    </>
  );
}

interface OneField {
  name: string;
  property: Property;
  isNeeded: boolean;
  value: Value | undefined;
  change: (value: Value) => void;
}

const INPUTS: Record<string, string> = { number: "number", integer: "number", email: "email", uri: "url", date: "date" };

function Field({ name, property, isNeeded, value, change }: OneField) {
  const id = useId();
  const [problem, setProblem] = useState("");
  const { type, format, description } = property;
  const title = <Text>{property.title ?? name}</Text>;
  const says = (
    <span>
      {title}
      {isNeeded && type !== "boolean" && " (needed)"}
      {description && (
        <span class="hint">
          {" "}
          · <Text>{description}</Text>
        </span>
      )}
    </span>
  );
  if (type === "boolean") return <Tick label={says} is={value === true} write={change} />;
  const choices = choicesOf(type === "array" ? (property.items ?? {}) : property);
  if (type === "array") {
    const chosen = Array.isArray(value) ? value.map(String) : [];
    return (
      <fieldset>
        <legend>{says}</legend>
        {choices?.map(([each, shown]) => (
          <Tick
            key={each}
            label={<Text>{shown}</Text>}
            is={chosen.includes(each)}
            write={(is) => change(is ? [...chosen, each] : chosen.filter((other) => other !== each))}
          />
        ))}
      </fieldset>
    );
  }
  const box = {
    required: isNeeded,
    value: value === undefined ? "" : String(value),
    "aria-invalid": problem !== "",
    "aria-describedby": problem && id,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) => {
      setProblem("");
      change(currentTarget.value);
    },
    // The browser says what is wrong, in the person's language: at the field, where it stays until it is mended.
    onInvalid: (event: { preventDefault: () => void; currentTarget: HTMLInputElement | HTMLSelectElement }) => {
      event.preventDefault();
      const { form, validationMessage } = event.currentTarget;
      setProblem(validationMessage);
      if (form?.querySelector("input:invalid, select:invalid") === event.currentTarget) event.currentTarget.focus();
    },
  };
  return (
    <div>
      <label>
        {says}
        {choices ? (
          <select {...box}>
            <option value="">Choose</option>
            {choices.map(([each, shown]) => (
              <option key={each} value={each}>
                {visible(shown)}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...box}
            type={(INPUTS[format ?? ""] ?? INPUTS[type ?? ""] ?? "text") as "text"}
            step={type === "integer" ? 1 : "any"}
            min={property.minimum}
            max={property.maximum}
            minLength={property.minLength}
            maxLength={property.maxLength}
          />
        )}
      </label>
      {problem && (
        <p id={id} class="wrong">
          {problem}
        </p>
      )}
    </div>
  );
}
