/** What commands print: tables for people, JSON for machines. */

export type Streams = { stdout: Pick<NodeJS.WriteStream, 'write'>; stderr: Pick<NodeJS.WriteStream, 'write'> }

export function printJson({ stdout }: Streams, value: unknown): void {
  stdout.write(`${JSON.stringify(value)}\n`)
}

/** Columns side by side; the last one may be of any length. */
export function printTable({ stdout }: Streams, rows: readonly (readonly string[])[]): void {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, width(cell))
  }
  const lines = rows.map(row => row.map((cell, at) => pad(cell, widths[at] ?? 0)).join('  '))
  stdout.write(lines.map(line => `${line.trimEnd()}\n`).join(''))
}

/** Characters and not UTF-16 units; good enough for a column, whatever a terminal makes of the widest ones. */
function width(text: string): number {
  return [...text].length
}

function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - width(text)))
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function bytesText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`
}
