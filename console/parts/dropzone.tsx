/** Where files are dropped or chosen. A file that is dropped elsewhere on the page does not replace the page. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

interface Shown {
  label: string;
  isMany?: boolean;
  isDisabled?: boolean;
  onFiles: (files: File[]) => void;
  children?: ComponentChildren;
}

export function Dropzone({ label, isMany = true, isDisabled = false, onFiles, children }: Shown) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    addEventListener("dragover", keepPage);
    addEventListener("drop", keepPage);
    return () => {
      removeEventListener("dragover", keepPage);
      removeEventListener("drop", keepPage);
    };
  }, []);

  function take(files: Iterable<File>): void {
    const taken = [...files];
    if (taken.length && !isDisabled) onFiles(isMany ? taken : taken.slice(0, 1));
  }

  return (
    <div
      class={isOver ? "dropzone over" : "dropzone"}
      onDragOver={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files ?? []);
      }}
    >
      <label>
        {label}{" "}
        <input
          type="file"
          multiple={isMany}
          disabled={isDisabled}
          onChange={(event) => {
            const input = event.currentTarget;
            take(input.files ?? []);
            input.value = ""; // the same file can be chosen again
          }}
        />
      </label>
      {children}
    </div>
  );
}

function keepPage(event: DragEvent): void {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
}
