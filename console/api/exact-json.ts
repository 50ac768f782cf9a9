/**
 * JSON whose numbers keep the digits that they were written with. `JSON.parse` makes 9007199254740992 of 9007199254740993,
 * and a person would decide on another call than the one that runs.
 */

/** A number as it stands in a text. */
export class NumberLiteral {
  constructor(readonly text: string) {}
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** As `JSON.parse`, with a `NumberLiteral` for each number. Throws SyntaxError. */
export function parse(text: string): unknown {
  JSON.parse(text); // says what is wrong in terms of this text
  // No text can have this name in it, because it was not known when the text was written.
  const name = crypto.randomUUID();
  const marked = text.replace(TOKENS, (token) => (token.startsWith('"') ? token : `{"${name}":"${token}"}`));
  return JSON.parse(marked, (_, value: unknown) => {
    const literal = typeof value === "object" && value !== null && (value as Record<string, unknown>)[name];
    return typeof literal === "string" ? new NumberLiteral(literal) : value;
  });
}

/** As `JSON.stringify`, with the digits of each `NumberLiteral`. */
export function write(value: unknown, indent = 0): string {
  return written(value, indent, "\n") ?? "null";
}

/** Undefined: JSON has no such value. */
function written(value: unknown, indent: number, line: string): string | undefined {
  if (value instanceof NumberLiteral) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const [deeper, colon] = indent ? [line + " ".repeat(indent), ": "] : [line, ":"];
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => written(each, indent, deeper) ?? "null")
    : Object.entries(value).flatMap(([name, each]) => {
        const part = written(each, indent, deeper);
        return part === undefined ? [] : [JSON.stringify(name) + colon + part];
      });
  const [begin, end] = isList ? "[]" : "{}";
  if (!parts.length) return `${begin}${end}`;
  return indent ? begin + deeper + parts.join(`,${deeper}`) + line + end : begin + parts.join(",") + end;
}
