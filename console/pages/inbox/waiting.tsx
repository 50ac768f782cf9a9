/** The list of what waits, soonest expiry first. */

import type { Intervention } from "../../api/shapes";
import { to } from "../../navigation/places";
import { Ago, Until } from "../../parts/time";
import { beginning, Text } from "../../parts/words";
import { may } from "../../sign-in/tokens";
import { Who } from "./asker";
import { choose, chooseNone, chosen } from "./chosen";
import { deciderOf, isDecidedTogether, named, rolesOf } from "./who-decides";
import { subject, title } from "./wording";

const LONGEST = 140;

export function Waiting({ open, selected }: { open: Intervention[] | undefined; selected: string | undefined }) {
  if (!open) return <p class="hint">Reading…</p>;
  if (open.length === 0) return <p class="empty">Nothing waits for a person.</p>;
  const together = open.filter((each) => isDecidedTogether(each, may));
  const isAll = together.every((each) => chosen.value.has(each.intervention_id));
  return (
    <>
      {together.length > 1 && (
        <label class="tick all">
          <input
            type="checkbox"
            checked={isAll}
            onChange={() => (isAll ? chooseNone() : together.forEach((each) => choose(each, true)))}
          />{" "}
          Choose all {together.length} approvals
        </label>
      )}
      <ul class="waiting">
        {open.map((each) => (
          <Row key={each.intervention_id} of={each} isSelected={each.intervention_id === selected} />
        ))}
      </ul>
      <p class="keys">Keys: j or ↓ for the next one, k or ↑ for the previous one, Enter to open, x to tick an approval.</p>
    </>
  );
}

/** What it is about, on one line. */
export function Subject({ of }: { of: Intervention }) {
  const [own, theirs] = subject(of);
  return (
    <span class="subject">
      {own && <code>{own}</code>} <Text>{theirs.length > LONGEST ? `${beginning(theirs, LONGEST)}…` : theirs}</Text>
    </span>
  );
}

function Row({ of, isSelected }: { of: Intervention; isSelected: boolean }) {
  const isOurs = deciderOf(of, may, false).options.length > 0;
  return (
    <li class={isSelected ? "row selected" : "row"}>
      {isDecidedTogether(of, may) && (
        <input
          type="checkbox"
          aria-label={beginning(`Decide together: ${subject(of).join(" ")}`, LONGEST)}
          checked={chosen.value.has(of.intervention_id)}
          onChange={(event) => choose(of, event.currentTarget.checked)}
        />
      )}
      <a
        class="open"
        href={to("inbox", of.session_id, of.intervention_id)}
        aria-current={isSelected ? "true" : undefined}
        onClick={chooseNone}
      >
        <span class="what">{title(of)}</span>
        <Subject of={of} />
        <span class="when">
          <Who id={of.session_id} />
        </span>
        <span class="when">
          agent <Text>{of.agent_name}</Text> ·{" "}
          {of.timeout_at ? (
            <>
              expires <Until at={of.timeout_at} />
            </>
          ) : (
            <>
              asked <Ago at={of.created_at} />
            </>
          )}
          {!isOurs && <span class="role"> · needs {named(rolesOf(of))}</span>}
        </span>
      </a>
    </li>
  );
}
