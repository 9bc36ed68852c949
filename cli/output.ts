/** Output of commands: tables for people, JSON for machines. It contains no control characters of the terminal. */

export type Output = Pick<NodeJS.WriteStream, 'write'>
export type Streams = { stdout: Output; stderr: Output }

/** Controls, separators of lines, lone surrogates, and signs that turn the direction of the text around them. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Escapes control characters of an untrusted text, like JSON, on one line. */
export function printable(text: string): string {
  return text.replace(unprintable, escaped)
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

export function printText(output: Output, text: string): void {
  output.write(printableLines(text))
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escaped(character: string): string {
  return shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** JSON escapes only a part of it. All else stands within its texts, where it may be escaped too. */
export function printJson({ stdout }: Streams, value: unknown): void {
  printText(stdout, `${JSON.stringify(value)}\n`)
}

/** Resolves when the line is written, so that a long output needs no memory. */
export function writeJsonLine({ stdout }: Pick<Streams, 'stdout'>, value: object): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(`${printable(JSON.stringify(value))}\n`, error => (error ? reject(error) : resolve()))
  })
}

/** Columns side by side. The last one may be of any length. */
export function printTable({ stdout }: Streams, rows: readonly (readonly string[])[]): void {
  const printed = rows.map(row => row.map(printable))
  const widths: number[] = []
  for (const row of printed) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, width(cell))
  }
  const lines = printed.map(row => row.map((cell, at) => pad(cell, widths[at] ?? 0)).join('  '))
  stdout.write(lines.map(line => `${line.trimEnd()}\n`).join(''))
}

/** One field a line. */
export function printFields(streams: Streams, fields: object): void {
  printTable(
    streams,
    Object.entries(fields).map(([field, value]) => [field, fieldText(value)]),
  )
}

function fieldText(value: unknown): string {
  if (value === null || value === '') return '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
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
