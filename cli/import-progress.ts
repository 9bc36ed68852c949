/** The progress of an import on a terminal, in bytes: the number of rows in a compressed file is unknown. */

import { statSync } from 'node:fs'
import { SingleBar } from 'cli-progress'
import { printable } from './output.ts'

export interface Progress {
  /** So many bytes of the files were read, and so many rows of them are settled. */
  update(bytes: number, rows: number): void
  note(text: string): void
  stop(): void
}

export const noProgress: Progress = { update: () => undefined, note: () => undefined, stop: () => undefined }

export function createProgress(files: readonly string[], terminal: NodeJS.WriteStream, now: () => number): Progress {
  const bytesTotal = totalBytes(files)
  const startedMs = now()
  const bar = new SingleBar({
    // The length of a pipe is unknown, so it has no bar.
    format:
      bytesTotal === undefined
        ? '{rows} rows, {rate} rows/s {note}'
        : '{bar} {percentage}% | {rate} rows/s | {eta_formatted} left {note}',
    stream: terminal,
    clearOnComplete: true,
    hideCursor: true,
    etaBuffer: 50,
  })
  const payload = { rows: 0, rate: 0, note: '' }
  bar.start(bytesTotal ?? 0, 0, payload)
  return {
    update(bytes, rows) {
      const seconds = Math.max(0.001, (now() - startedMs) / 1000)
      bar.update(bytes, { rows, rate: Math.round(rows / seconds), note: '' })
    },
    note: text => bar.update({ note: `| ${printable(text)}` }),
    stop: () => bar.stop(),
  }
}

function totalBytes(files: readonly string[]): number | undefined {
  let total = 0
  for (const file of files) {
    const stats = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false })
    if (stats === undefined || !stats.isFile()) return undefined
    total += stats.size
  }
  return total
}
