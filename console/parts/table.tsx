/** Rows with columns. On a phone each row is a card, whose values have their column's title before them. */

import type { ComponentChildren } from "preact";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Instead of the title above the column, such as a box that chooses all rows. */
  head?: ComponentChildren;
  isNumber?: boolean;
}

interface Shown<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  name: (row: Row) => string;
}

// Roles are said, because styles that make cards of rows take the meaning of a table away.
export function Table<Row>({ label, columns, rows, name }: Shown<Row>) {
  return (
    <table class="rows" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((each) => (
            <th key={each.title} role="columnheader" scope="col" class={each.isNumber ? "number" : undefined}>
              {each.head ?? each.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={name(row)} role="row">
            {columns.map((each) => (
              <td key={each.title} role="cell" data-title={each.title} class={each.isNumber ? "number" : undefined}>
                <div>{each.cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
