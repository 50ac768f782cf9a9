/** Deletes what agents may name. Where some do, the service says which, and it takes a second yes. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { ask, Refused } from "../api/request";
import { Confirm } from "./dialog";

interface Shown {
  title: string;
  path: string;
  version: number;
  onDone: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

export function DeleteNamed({ title, path, version, onDone, onClose, children }: Shown) {
  const [isNamed, setNamed] = useState(false);
  async function remove(): Promise<void> {
    try {
      await ask("DELETE", path, { query: { version, force: isNamed || undefined } });
    } catch (error) {
      if (error instanceof Refused && error.details["agents"]) setNamed(true);
      throw error;
    }
    onDone();
  }
  return (
    <Confirm title={title} act={isNamed ? "Delete anyway" : "Delete"} isDangerous onAct={remove} onClose={onClose}>
      {children}
    </Confirm>
  );
}
