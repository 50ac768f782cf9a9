/**
 * JSON whose numbers keep the digits that they were written with. `JSON.parse` makes 9007199254740992 of 9007199254740993,
 * and a person would decide on another call than the one that runs.
 */

/** A number as it stands in a text. */
export class NumberLiteral {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** As `JSON.parse`, with a `NumberLiteral` for each number. Throws SyntaxError. */
export function parse(text: string, isLiteral: (number: string) => boolean = () => true): unknown {
  const value: unknown = JSON.parse(text); // says what is wrong in terms of this text
  // No text can have this name in it, because it was not known when the text was written.
  const name = crypto.randomUUID();
  const marked = text.replace(TOKENS, (token) => (token.startsWith('"') || !isLiteral(token) ? token : `{"${name}":"${token}"}`));
  if (marked.length === text.length) return value;
  return JSON.parse(marked, (_, value: unknown) => {
    const literal = typeof value === "object" && value !== null && (value as Record<string, unknown>)[name];
    return typeof literal === "string" ? new NumberLiteral(literal) : value;
  });
}

/** As `JSON.parse`, with a `NumberLiteral` for each number that JavaScript would change. Throws SyntaxError. */
export function parseAnswer(text: string): unknown {
  return parse(text, (number) => valueOf(number) !== valueOf(String(Number(number))));
}

/** Equal for two texts of one number. */
function valueOf(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const power = digits && Number(exponent) + digits.length - fraction.length;
  return `${sign}${digits.replace(/0+$/, "")}e${power}`;
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
