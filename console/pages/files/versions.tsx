/** What a file was before, each version of it: to compare, to download, and to restore. */

import { useEffect, useState } from "preact/hooks";

import { fileAddress } from "../../api/file-names";
import { condition, type FileVersion, isMet, presentOf } from "../../api/files";
import { ask, Refused } from "../../api/request";
import { bytes } from "../../parts/amounts";
import { Confirm, Dialog } from "../../parts/dialog";
import { Refusal } from "../../parts/refusal";
import { Diff } from "../../parts/diff";
import { type Column, Table } from "../../parts/table";
import { Ago } from "../../parts/time";
import { say, sayError } from "../../parts/toasts";
import { contentOf, download, textOf } from "./saving";

const CAME_BETWEEN =
  "Somebody changed this file meanwhile, so nothing was restored. Leave it, look at the newest version, and restore again if you still want to.";

interface Shown {
  path: string;
  versions: readonly FileVersion[];
  mayRestore: boolean;
  onRestored: () => void;
}

export function Versions({ path, versions, mayRestore, onRestored }: Shown) {
  const [restored, setRestored] = useState<FileVersion>();
  /** What is there when the restore is asked for. */
  const [over, setOver] = useState<FileVersion>();
  const [compared, setCompared] = useState<FileVersion>();
  const current = presentOf(versions);
  const acts: Column<FileVersion> = {
    title: "Do",
    cell: (each) =>
      !each.current &&
      !each.deletion && (
        <span class="acts">
          {current && (
            <button type="button" onClick={() => setCompared(each)}>
              Compare
            </button>
          )}
          <button type="button" onClick={() => download(path, each.version_id).catch(sayError)}>
            Download
          </button>
          {mayRestore && (
            <button
              type="button"
              onClick={() => {
                setOver(current);
                setRestored(each);
              }}
            >
              Restore
            </button>
          )}
        </span>
      ),
  };
  return (
    <>
      <h2>Versions</h2>
      <Table label="Versions" columns={[...COLUMNS, acts]} rows={versions} name={(each) => each.version_id} />
      {compared && current && (
        <Compared path={path} before={compared} after={current} onClose={() => setCompared(undefined)} />
      )}
      {restored && (
        <Confirm
          title="Restore this version?"
          act="Restore"
          onAct={async () => {
            const headers = condition(over?.etag ?? null);
            try {
              await ask("POST", fileAddress(path), { query: { restore: restored.version_id }, headers });
            } catch (error) {
              if (isMet(error)) {
                onRestored();
                throw new Refused(412, "PRECONDITION_FAILED", CAME_BETWEEN);
              }
              throw error;
            }
            say("Restored as a new version.");
            onRestored();
          }}
          onClose={() => setRestored(undefined)}
        >
          <p>
            The file becomes what it was <Ago at={restored.modified_at} /> ({bytes(restored.bytes)}). What is there now
            stays a version for 30 days.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface Two {
  path: string;
  before: FileVersion;
  after: FileVersion;
  onClose: () => void;
}

/** What has changed from that version to the file as it is. */
function Compared({ path, before, after, onClose }: Two) {
  const [texts, setTexts] = useState<[string | undefined, string | undefined]>();
  const [problem, setProblem] = useState<Error>();
  useEffect(() => {
    const read = async (version: FileVersion) => textOf(await contentOf(path, version.version_id));
    Promise.all([read(before), read(after)]).then(setTexts, setProblem);
  }, []);
  const [was, is] = texts ?? [];
  return (
    <Dialog title="What has changed since" onClose={onClose}>
      <p class="hint">
        From the version of <Ago at={before.modified_at} /> to the file as it is.
      </p>
      <Refusal error={problem} />
      {!texts && !problem && <p class="hint">Reading both …</p>}
      {texts &&
        (was === undefined || is === undefined ? (
          <p class="empty">One of them is not text, so they cannot be compared here. Download them.</p>
        ) : (
          <Diff before={was} after={is} label="What has changed" />
        ))}
      <p class="acts">
        <button type="button" autofocus onClick={onClose}>
          Close
        </button>
      </p>
    </Dialog>
  );
}

const COLUMNS: readonly Column<FileVersion>[] = [
  { title: "When", cell: ({ modified_at }) => <Ago at={modified_at} /> },
  { title: "Size", isNumber: true, cell: (each) => (each.deletion ? "" : bytes(each.bytes)) },
  {
    title: "What",
    cell: ({ current, deletion }) => (deletion ? "deleted here" : current ? "as it is now" : "an earlier version"),
  },
];
