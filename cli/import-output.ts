/** The output of an import while it runs: its progress, and the file of rejected lines. */

import { closeSync, fstatSync, openSync, statSync, writeSync } from 'node:fs'
import { SingleBar } from 'cli-progress'
import type { ImportAnswer } from '../api/admin/answers.ts'
import { withFile } from './command-error.ts'
import type { Batch } from './import-batch.ts'
import { printable } from './output.ts'

export interface Progress {
  /** `bytes` of the files were read, and `rows` of them are settled. */
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

/** The common part of all rejects. */
type Reject = Pick<ImportAnswer['rejects'][number], 'line' | 'reason'> & { code: string }

/** The rejects file: each rejected line with its file, line number and reason, as CSV. */
export interface RejectsFile {
  add(file: string, batch: Batch, rejects: readonly Reject[]): void
  close(): void
}

const header = 'file,line,code,reason,text\n'

/** `isContinued`: the file keeps its earlier rejects. */
export function createRejectsFile(path: string, isContinued = false): RejectsFile {
  const descriptor = withFile('the rejects file', 'written', () => openSync(path, isContinued ? 'a' : 'w'))
  if (fstatSync(descriptor).size === 0) writeSync(descriptor, header)
  return {
    add(file, batch, rejects) {
      const texts = linesOf(batch, rejects)
      const rows = rejects.map(({ line, code, reason }, index) => {
        return [file, String(lineInFile(batch, line)), code, reason, texts[index] ?? '']
      })
      const unread = batch.mapped?.rejects ?? []
      for (const { line, code, reason, text } of unread) rows.push([file, String(line), code, reason, text])
      writeSync(descriptor, rows.map(row => `${row.map(cell).join(',')}\n`).join(''))
    },
    close: () => closeSync(descriptor),
  }
}

/** The server counts the lines of the body that it got. */
export function lineInFile(batch: Batch, lineInBody: number): number {
  if (batch.mapped !== undefined) return batch.mapped.sourceLines[lineInBody - 1] ?? batch.firstLine
  const headerLines = batch.linesAt > 0 ? 1 : 0
  return batch.firstLine + lineInBody - headerLines - 1
}

const lineFeed = 0x0a

/** The texts of the rejected lines. The rejects are in the order of the lines. */
function linesOf({ body }: Batch, rejects: readonly Reject[]): string[] {
  let line = 1
  let start = 0
  return rejects.map(reject => {
    for (; line < reject.line; line++) start = body.indexOf(lineFeed, start) + 1
    const end = body.indexOf(lineFeed, start)
    return body.toString('utf8', start, end === -1 ? body.length : end).replace(/\r$/, '')
  })
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
