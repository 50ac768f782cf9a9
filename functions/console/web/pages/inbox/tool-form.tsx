/** The fields that the server of a tool asks for. Names, descriptions and choices are its words, shown as text. */

import { Fragment } from "preact";

import type { Intervention } from "../../api/shapes";
import { Quoted, Text } from "../../parts/words";

interface Property {
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
}

interface Request {
  message: string;
  url?: string;
  schema?: { properties: Record<string, Property>; required?: string[] };
}

/** By the form's key, then by the field's name: what was typed. */
export type FormValues = Record<string, Record<string, string | boolean>>;

export interface Forms {
  requests: [key: string, request: Request][];
  inputOf: (values: FormValues) => Record<string, unknown>;
}

export function formsOf(one: Intervention): Forms {
  const requests = Object.entries((one.context["requests"] ?? {}) as Record<string, Request>);
  return {
    requests,
    inputOf: (values) =>
      Object.fromEntries(
        requests
          .filter(([, request]) => request.schema)
          .map(([key, request]) => [key, typed(request.schema!.properties, values[key] ?? {})]),
      ),
  };
}

/** What was typed, as its field's type has it. What was left empty is left out. */
export function typed(
  properties: Record<string, Property>,
  values: Record<string, string | boolean>,
): Record<string, unknown> {
  const fields: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const value = values[name] ?? property.default;
    if (property.type === "boolean") fields.push([name, value === true]);
    else if (value === undefined || value === "") continue;
    else if (property.type === "number" || property.type === "integer") fields.push([name, Number(value)]);
    else fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

/** What the server says, without the fields. */
export function Requests({ of }: { of: Intervention }) {
  const { requests } = formsOf(of);
  return (
    <>
      {requests.map(([key, request]) => (
        <Quoted key={key} by="The tool's server says">
          {request.url ? `${request.message}\n\nIt wants you to open: ${request.url}` : request.message}
        </Quoted>
      ))}
    </>
  );
}

interface Fields {
  forms: Forms;
  values: FormValues;
  change: (values: FormValues) => void;
}

export function FormFields({ forms, values, change }: Fields) {
  return (
    <>
      {forms.requests.map(([key, { schema }]) => (
        <Fragment key={key}>
          {Object.entries(schema?.properties ?? {}).map(([name, property]) => (
            <Field
              key={name}
              name={name}
              property={property}
              isNeeded={schema?.required?.includes(name) ?? false}
              value={values[key]?.[name] ?? (property.default as string | boolean | undefined)}
              change={(value) => change({ ...values, [key]: { ...values[key], [name]: value } })}
            />
          ))}
        </Fragment>
      ))}
    </>
  );
}

interface OneField {
  name: string;
  property: Property;
  isNeeded: boolean;
  value: string | boolean | undefined;
  change: (value: string | boolean) => void;
}

function Field({ name, property, isNeeded, value, change }: OneField) {
  const says = (
    <>
      <Text>{property.title ?? name}</Text>
      {isNeeded ? " (needed)" : ""}
      {property.description && (
        <span class="hint">
          {" "}
          · <Text>{property.description}</Text>
        </span>
      )}
    </>
  );
  if (property.type === "boolean") {
    return (
      <label class="tick">
        <input type="checkbox" checked={value === true} onChange={(event) => change(event.currentTarget.checked)} /> {says}
      </label>
    );
  }
  const text = value === undefined ? "" : String(value);
  if (Array.isArray(property.enum)) {
    return (
      <label>
        {says}
        <select value={text} required={isNeeded} onChange={(event) => change(event.currentTarget.value)}>
          <option value="">Choose</option>
          {property.enum.map(String).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
    );
  }
  const typing = (event: { currentTarget: HTMLInputElement }) => change(event.currentTarget.value);
  const isNumber = property.type === "number" || property.type === "integer";
  return (
    <label>
      {says}
      {isNumber ? (
        <input
          type="number"
          step={property.type === "integer" ? 1 : "any"}
          required={isNeeded}
          value={text}
          onInput={typing}
        />
      ) : (
        <input type="text" required={isNeeded} value={text} onInput={typing} />
      )}
    </label>
  );
}
