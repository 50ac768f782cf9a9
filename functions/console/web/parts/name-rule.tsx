/** What becomes of files whose names exist, as a person chooses it. */

import type { Rule } from "../api/file-names";

const RULES: readonly (readonly [Rule, string])[] = [
  ["both", "Keep both: the new one gets a number, such as notes (2).md"],
  ["replace", "Replace: the earlier one stays a version for 30 days"],
  ["skip", "Leave out the new one"],
];

export function NameRule({ chosen, onChoose }: { chosen: Rule; onChoose: (rule: Rule) => void }) {
  return (
    <label>
      Where a file of that name exists{" "}
      <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value as Rule)}>
        {RULES.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
