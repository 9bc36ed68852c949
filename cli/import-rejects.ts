/** The rejects file: each rejected line with its file, line number and reason, as CSV. */

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import type { ImportAnswer } from '../api/admin/import-answer.ts'
import { withFile } from './command-error.ts'
import type { Batch } from './import-batch.ts'

/** The common part of all rejects. */
type Reject = Pick<ImportAnswer['rejects'][number], 'line' | 'reason'> & { code: string }

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
