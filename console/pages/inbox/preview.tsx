/** What a call would delete, replace or create, as it is now. */

import { useEffect, useState } from "preact/hooks";

import { PRIVATE } from "../../api/file-names";
import { Refused } from "../../api/refused";
import type { Intervention, Shapes } from "../../api/shapes";
import { Diff } from "../../parts/diff";
import { Long } from "../../parts/long";
import { Text } from "../../parts/words";
import { isOwn } from "./asker";
import { contentOf, textOf } from "../files/saving";
import type { Input } from "./call";

type Seen = { kind: "text"; text: string } | { kind: "bytes"; bytes: number } | { kind: "none" } | { kind: "private" };

export function Preview({ call, input, of }: { call: Shapes["PendingCall"]; input: Input; of: Intervention }) {
  const { file } = call;
  const path = file && input[file.argument];
  if (!file || typeof path !== "string" || file.use === "read") return null;
  const text = file.content === null ? undefined : String(input[file.content] ?? "");
  const mayReplace = file.replace !== null && input[file.replace] === true;
  const isBound = call.file_etag !== null && call.input[file.argument] === path;
  return <Now key={path} path={path} of={of} replacedBy={text} mayReplace={mayReplace} isBound={isBound} />;
}

interface Written {
  path: string;
  of: Intervention;
  /** Undefined: it would be deleted. */
  replacedBy: string | undefined;
  mayReplace: boolean;
  /** The call runs only on the file as it was when this was asked. */
  isBound: boolean;
}

function Now({ path, of, replacedBy, mayReplace, isBound }: Written) {
  const [seen, setSeen] = useState<Seen>();
  const [failure, setFailure] = useState<Error>();
  useEffect(() => {
    look(path, of).then(setSeen, setFailure);
  }, [path, of.intervention_id]);
  return (
    <div class="preview" role="group" aria-label="What it changes">
      <h3>What would be {replacedBy === undefined ? "deleted" : seen?.kind === "none" ? "created" : "replaced"}</h3>
      <p>
        <code class="value">
          <Text>{path}</Text>
        </code>
        {seen?.kind === "text" && <span class="hint"> · {seen.text.length.toLocaleString()} characters now</span>}
      </p>
      {failure && <p class="notice warning">The file could not be read: {failure.message}</p>}
      {!seen && !failure && <p class="hint">The file is being read…</p>}
      {seen?.kind === "none" && <p class="notice">There is no such file now.</p>}
      {replacedBy !== undefined && !mayReplace && seen && seen.kind !== "none" && (
        <p class="notice warning">This file already exists: without “replace” the call fails.</p>
      )}
      {seen?.kind === "private" && (
        <p class="notice">Only the person who started the session sees this file.</p>
      )}
      {seen?.kind === "bytes" && <p class="notice">It is no text: {seen.bytes.toLocaleString()} bytes.</p>}
      {seen?.kind === "text" && replacedBy === undefined && <Long by="The file now">{seen.text}</Long>}
      {seen?.kind === "text" && replacedBy !== undefined && (
        <Diff before={seen.text} after={replacedBy} label="The file now, and what would replace it" />
      )}
      {replacedBy === undefined && seen && seen.kind !== "none" && (
        <p class="hint">Deleted files can be restored for 30 days.</p>
      )}
      {isBound && <p class="hint">If it has changed since this was asked, or changes before the call runs, it stays as it is and you are asked again.</p>}
    </div>
  );
}

/** Throws Refused. */
async function look(path: string, of: Intervention): Promise<Seen> {
  // To whoever started the session `~/` names the same files.
  if (path.startsWith(PRIVATE) && !(await isOwn(of.session_id))) return { kind: "private" };
  try {
    const content = await contentOf(path);
    const text = await textOf(content);
    return text === undefined ? { kind: "bytes", bytes: content.size } : { kind: "text", text };
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return { kind: "none" };
    throw error;
  }
}
