/** Files of a folder that were deleted: each leads to its versions, where it can be restored. */

import { useState } from "preact/hooks";

import { EVERY } from "../../live/how-often";
import { useEvery } from "../../live/watch";
import { Freshness } from "../../parts/fresh";
import { Table } from "../../parts/table";
import { Ago } from "../../parts/time";
import { Text } from "../../parts/words";
import { me } from "../../sign-in/tokens";
import { type Deleted, deletedFiles, filePage } from "./listing";

export function DeletedFiles({ folder }: { folder: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Deleted</summary>
      {isOpen && <Files folder={folder} />}
    </details>
  );
}

function Files({ folder }: { folder: string }) {
  const live = useEvery<Deleted>(`files.deleted.${me.value?.user}.${folder}`, (signal) => deletedFiles(folder, signal), EVERY.deletedFiles);
  const found = live.value.value;
  return (
    <>
      <Freshness of={live} />
      {found?.files.length === 0 && !found.isCut && <p class="hint">Nothing was deleted here.</p>}
      {found && found.files.length > 0 && (
        <Table
          label="Deleted"
          rows={found.files}
          name={(each) => each.path}
          columns={[
            {
              title: "Name",
              cell: ({ path }) => (
                <a href={filePage(path)}>
                  <Text>{path.slice(folder.length)}</Text>
                </a>
              ),
            },
            { title: "Deleted", cell: ({ deleted_at }) => <Ago at={deleted_at} /> },
          ]}
        />
      )}
      {found?.isCut && <p class="notice warning">There may be more than this page shows: open the folders one by one.</p>}
    </>
  );
}
