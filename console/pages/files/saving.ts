/** Reads files, and saves them on the person's machine. */

import { fileAddress, split } from "../../api/file-names";
import { get } from "../../api/request";

export function contentOf(path: string, version?: string): Promise<Blob> {
  return get<Blob>(fileAddress(path), version ? { version } : {});
}

export async function download(path: string, version?: string): Promise<void> {
  const address = URL.createObjectURL(await contentOf(path, version));
  const link = document.createElement("a");
  link.href = address;
  link.download = split(path)[1];
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // it is read after the click
}

/** undefined: it is no text. The API says which it is, and in which encoding. */
export async function textOf(content: Blob): Promise<string | undefined> {
  if (!content.type.startsWith("text/plain")) return undefined;
  return new TextDecoder(encodingOf(content)).decode(await content.arrayBuffer());
}

export function encodingOf(content: Blob): string {
  return content.type.split("charset=")[1] ?? "utf-8";
}
