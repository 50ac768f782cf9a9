/** One file: its text, its versions, and replacing, restoring or deleting it. */

import { useState } from "preact/hooks";

import { fileAddress, PRIVATE, split } from "../../api/file-names";
import { condition, type FileVersion, isMet, presentOf, write } from "../../api/files";
import { ask, get, Refused } from "../../api/request";
import type { Page } from "../../api/shapes";
import { useEvery } from "../../live/watch";
import { bytes } from "../../parts/amounts";
import { Confirm } from "../../parts/dialog";
import { Dropzone } from "../../parts/dropzone";
import { Freshness } from "../../parts/fresh";
import { Ago } from "../../parts/time";
import { say, sayError } from "../../parts/toasts";
import { Text, visible } from "../../parts/words";
import { may, me } from "../../sign-in/tokens";
import { Content } from "./content";
import { Way } from "./folder";
import { download } from "./saving";
import { Versions } from "./versions";

type Act = { kind: "delete" } | { kind: "replace"; by: File };

export function OneFile({ path }: { path: string }) {
  const live = useEvery<FileVersion[]>(`file.${me.value?.user}.${path}`, (signal) => versionsOf(path, signal));
  const [act, setAct] = useState<Act>();
  /** The newest version when the act was asked for: what the person means. */
  const [meant, setMeant] = useState<FileVersion>();
  const versions = live.value.value;
  const current = presentOf(versions);
  const [, name] = split(path);
  const role = me.value?.file_change_role;
  const mayChange = path.startsWith(PRIVATE) || !role || may(role);

  function begin(next: Act): void {
    setMeant(current);
    setAct(next);
  }

  /** Throws where somebody was faster; the next attempt means what is there by then. */
  async function checkSame(): Promise<void> {
    const there = presentOf(await versionsOf(path));
    if (there?.version_id === meant?.version_id) return;
    setMeant(there);
    live.refresh();
    throw new Refused(409, "CONFLICT", there ? CHANGED : GONE);
  }

  async function carryOut(): Promise<void> {
    if (!act) return;
    if (act.kind === "replace") {
      try {
        await write(path, act.by, meant?.etag ?? null);
      } catch (error) {
        if (isMet(error)) await checkSame(); // says what is there now
        throw error;
      }
      say("Replaced. The earlier content is one of its versions.");
    } else {
      await checkSame();
      await ask("DELETE", fileAddress(path), { headers: condition(meant?.etag ?? undefined) });
      say("Deleted. It can be restored for 30 days.");
    }
    live.refresh();
  }

  if (versions?.length === 0) {
    return (
      <>
        <h1 tabIndex={-1}>There is no such file</h1>
        <Way path={path} />
        <p>
          There is no file <Text>{path}</Text>, and none of its earlier versions is left.
        </p>
      </>
    );
  }
  return (
    <>
      <h1 tabIndex={-1}>
        <Text>{name}</Text>
      </h1>
      <Way path={path} />
      <Freshness of={live} />
      {current && (
        <>
          <div class="heading">
            <span class="hint">
              {bytes(current.bytes)}, changed <Ago at={current.modified_at} />
            </span>
            <span class="acts">
              <button type="button" onClick={() => download(path).catch(sayError)}>
                Download
              </button>
              {mayChange && (
                <button type="button" class="danger" onClick={() => begin({ kind: "delete" })}>
                  Delete
                </button>
              )}
            </span>
          </div>
          <Content key={current.version_id} path={path} />
        </>
      )}
      {versions && !current && (
        <p class="notice">
          This file was deleted. An earlier version can be restored below, or a new file stored in its place.
        </p>
      )}
      {versions && (
        <>
          {!mayChange && (
            <p class="hint">
              People with the role <Text>{role}</Text> replace, restore and delete shared files. A new version of yours can
              go under another name.
            </p>
          )}
          {(mayChange || !current) && (
            <Dropzone
              label={current ? "Replace it: drop the new one here, or choose it" : "Store a new one: drop or choose it"}
              isMany={false}
              onFiles={([by]) => by && begin({ kind: "replace", by })}
            />
          )}
          <Versions path={path} versions={versions} mayRestore={mayChange} onRestored={live.refresh} />
        </>
      )}
      {act?.kind === "delete" && (
        <Confirm title={`Delete ${visible(name)}?`} act="Delete" isDangerous onAct={carryOut} onClose={() => setAct(undefined)}>
          <p>Agents can no longer find it. Its versions are kept for 30 days.</p>
        </Confirm>
      )}
      {act?.kind === "replace" && (
        <Confirm title={`Replace ${visible(name)}?`} act="Replace" onAct={carryOut} onClose={() => setAct(undefined)}>
          <p>
            <Text>{act.by.name}</Text> ({bytes(act.by.size)}) takes its place. What is there now stays a version for 30
            days.
          </p>
        </Confirm>
      )}
    </>
  );
}

const CHANGED =
  "Somebody changed this file meanwhile. Nothing was done. Close this to see the present file, or do it anyway.";
const GONE = "Somebody deleted this file meanwhile. Nothing was done.";

/** Empty: there never was such a file. */
async function versionsOf(path: string, signal?: AbortSignal): Promise<FileVersion[]> {
  try {
    return (await get<Page<FileVersion>>(fileAddress(path), { versions: "1" }, signal)).items;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return [];
    throw error;
  }
}
