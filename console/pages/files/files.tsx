/** The tenant's storage: a folder (`?in=reports/`), or one file (`?file=reports/may.md`). */

import { query } from "../../navigation/places";
import { Folder } from "./folder";
import { OneFile } from "./one-file";

export function Files() {
  const file = query.value.get("file");
  if (file) return <OneFile key={file} path={file} />;
  const folder = query.value.get("in") ?? "";
  return <Folder key={folder} folder={folder} />;
}
