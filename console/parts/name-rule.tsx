/** What becomes of files whose names exist, as a person chooses it. */

import { Choice } from "./field";
import type { Rule } from "../api/file-names";

const RULES: readonly (readonly [Rule, string])[] = [
  ["both", "Keep both: the new one gets a number, such as notes (2).md"],
  ["replace", "Replace: the earlier one stays a version for 30 days"],
  ["skip", "Skip the new one"],
];

export function NameRule({ chosen, onChoose }: { chosen: Rule; onChoose: (rule: Rule) => void }) {
  return (
    <Choice label="If a file of that name exists" value={chosen} write={(name) => onChoose(name as Rule)} of={RULES} />
  );
}
