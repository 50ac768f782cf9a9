/** A folder: what is in it, and putting files there. */

import { useState } from "preact/hooks";

import { PRIVATE, type Rule } from "../../api/file-names";
import { putAll, type Put } from "../../api/files";
import { useEvery } from "../../live/watch";
import { bytes, counted } from "../../parts/amounts";
import { Dropzone } from "../../parts/dropzone";
import { Freshness } from "../../parts/fresh";
import { NameRule } from "../../parts/name-rule";
import { type Column, Table } from "../../parts/table";
import { Ago } from "../../parts/time";
import { Text } from "../../parts/words";
import { me } from "../../sign-in/tokens";
import { DeletedFiles } from "./deleted";
import { type Entry, wayTo } from "./entries";
import { filePage, folderAddress, type Listing, listing } from "./listing";

export function Folder({ folder }: { folder: string }) {
  const live = useEvery<Listing>(`files.${me.value?.user}.${folder}`, (signal) => listing(folder, signal));
  const [rule, setRule] = useState<Rule>("both");
  const [puts, setPuts] = useState<Put[]>([]);
  const [isBusy, setBusy] = useState(false);
  const found = live.value.value;
  const hasFolder = found?.entries.some((each) => each.files !== undefined);

  async function take(files: File[]): Promise<void> {
    setBusy(true);
    setPuts([]);
    await putAll(files, folder, rule, (put) => setPuts((before) => [...before, put]));
    setBusy(false);
    live.refresh();
  }

  return (
    <>
      <h1 tabIndex={-1}>Files</h1>
      <Way path={folder} />
      <Freshness of={live} reading="Reading the folder …" />
      {found?.entries.length === 0 && <p class="empty">There is nothing here yet. Drop files below.</p>}
      {found && found.entries.length > 0 && (
        <Table label="Files" columns={hasFolder ? COLUMNS : COLUMNS.filter((each) => each !== HOLDS)} rows={found.entries} name={(each) => each.path} />
      )}
      {found?.isCut && (
        <p class="notice warning">There are more files than this page shows: open the folders one by one.</p>
      )}
      {folder === "" && (
        <p>
          <a href={folderAddress(PRIVATE)}>My own files</a>, which nobody else sees
        </p>
      )}
      <DeletedFiles folder={folder} />
      <Dropzone
        label={isBusy ? "The files are being stored …" : "Drop files here, or choose them"}
        isDisabled={isBusy}
        onFiles={(files) => void take(files)}
      >
        <NameRule chosen={rule} onChoose={setRule} />
        <ul class="plain" aria-live="polite" aria-label="What happened to them">
          {puts.map((put, at) => (
            <li key={at}>
              <Outcome of={put} />
            </li>
          ))}
        </ul>
      </Dropzone>
    </>
  );
}

/** The folders that lead here, and then `children`. */
export function Way({ path }: { path: string }) {
  return (
    <nav class="way" aria-label="Folders">
      <a href={folderAddress("")}>All files</a>
      {wayTo(path).map(([own, name]) => (
        <span key={own}>
          {" / "}
          <a href={folderAddress(own)} aria-current={own === path ? "page" : undefined}>
            <Text>{name}</Text>
          </a>
        </span>
      ))}
    </nav>
  );
}

const HOLDS: Column<Entry> = { title: "Holds", cell: ({ files }) => (files === undefined ? "" : counted(files, "file")) };

const COLUMNS: readonly Column<Entry>[] = [
  {
    title: "Name",
    cell: ({ path, name, files }) => (
      <a href={files === undefined ? filePage(path) : folderAddress(path)}>
        <Text>{name}</Text>
      </a>
    ),
  },
  HOLDS,
  { title: "Size", isNumber: true, cell: (each) => bytes(each.bytes) },
  { title: "Changed", cell: ({ modifiedAt }) => <Ago at={modifiedAt} /> },
];

function Outcome({ of: { name, path, problem } }: { of: Put }) {
  if (problem) {
    return (
      <strong class="not-done">
        ✘ <Text>{name}</Text> was not stored: {problem}
      </strong>
    );
  }
  if (path === undefined) {
    return (
      <>
        – <Text>{name}</Text> was left out: there is a file of that name
      </>
    );
  }
  return (
    <>
      ✔ <a href={filePage(path)}><Text>{path}</Text></a> is stored
    </>
  );
}
