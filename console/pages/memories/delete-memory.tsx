/** Deletes a memory, as the person saw it: where somebody changed it meanwhile, that is shown first. */

import { useState } from "preact/hooks";

import { Refused } from "../../api/request";
import { Confirm } from "../../parts/dialog";
import { say } from "../../parts/toasts";
import { Quoted } from "../../parts/words";
import { read, remove } from "./memory";
import { isSame, type Memory } from "./words";

const CHANGED = "Somebody changed this memory meanwhile, so it was not deleted. The present text is above.";

export function DeleteMemory({ memory, onClose }: { memory: Memory; onClose: () => void }) {
  const [seen, setSeen] = useState(memory);

  async function carryOut(): Promise<void> {
    const now = await read(memory.memory_id);
    if (!isSame(now.memory, seen)) {
      setSeen(now.memory);
      throw new Refused(409, "CONFLICT", CHANGED);
    }
    await remove(memory.memory_id, now.tag);
    say("Deleted.");
  }

  return (
    <Confirm title="Delete this memory?" act="Delete" isDangerous onAct={carryOut} onClose={onClose}>
      <Quoted by="It says">{seen.text}</Quoted>
      <p>Agents forget it. This cannot be undone.</p>
    </Confirm>
  );
}
