/** What a file was before, each version of it: to download, and to restore. */

import { useState } from "preact/hooks";

import { fileAddress } from "../../api/file-names";
import type { FileVersion } from "../../api/files";
import { ask } from "../../api/request";
import { bytes } from "../../parts/amounts";
import { Confirm } from "../../parts/dialog";
import { type Column, Table } from "../../parts/table";
import { Ago } from "../../parts/time";
import { say } from "../../parts/toasts";

interface Shown {
  path: string;
  versions: readonly FileVersion[];
  onRestored: () => void;
}

export function Versions({ path, versions, onRestored }: Shown) {
  const [restored, setRestored] = useState<FileVersion>();
  const acts: Column<FileVersion> = {
    title: "Do",
    cell: (each) =>
      !each.current &&
      !each.deletion && (
        <button type="button" onClick={() => setRestored(each)}>
          Restore
        </button>
      ),
  };
  return (
    <>
      <h2>Versions</h2>
      <Table label="Versions" columns={[...COLUMNS, acts]} rows={versions} name={(each) => each.version_id} />
      {restored && (
        <Confirm
          title="Restore this version?"
          act="Restore"
          onAct={async () => {
            await ask("POST", fileAddress(path), { query: { restore: restored.version_id } });
            say("Restored, as a version more.");
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

const COLUMNS: readonly Column<FileVersion>[] = [
  { title: "When", cell: ({ modified_at }) => <Ago at={modified_at} /> },
  { title: "Size", isNumber: true, cell: (each) => (each.deletion ? "" : bytes(each.bytes)) },
  {
    title: "What",
    cell: ({ current, deletion }) => (deletion ? "deleted here" : current ? "as it is now" : "an earlier version"),
  },
];
