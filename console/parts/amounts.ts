/** Amounts as people read them. */

const STEPS = ["kB", "MB", "GB", "TB"];

/** `1_500`: `1.5 kB`. Powers of ten. */
export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  let size = count;
  let step = -1;
  while (size >= 999.5 && step < STEPS.length - 1) {
    size /= 1_000;
    step += 1;
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${STEPS[step]}`;
}

/** `1`, `file`: `1 file`; `2`, `file`: `2 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** US dollars. Small amounts keep two figures that say something: `0.00123`: `$0.0012`; `12.345`: `$12.35`. */
export function dollars(amount: number): string {
  if (amount === 0) return "$0";
  return amount >= 0.995 ? `$${amount.toFixed(2)}` : `$${Number(amount.toPrecision(2))}`;
}
