/** Imports files in batches; with --create-devices it adds unknown devices and sends the batch again. */

import type { Readable } from 'node:stream'
import { ImportAnswer } from '../api/admin/answers.ts'
import type { Fields } from '../ingest/field-names.ts'
import { createCsvReader, readCsvHeader } from '../ingest/formats/csv.ts'
import type { LineReader } from '../ingest/formats/lines.ts'
import { SeenRows } from '../ingest/formats/merged-rows.ts'
import { createNdjsonReader } from '../ingest/formats/ndjson.ts'
import type { Column } from '../ingest/formats/row-kind.ts'
import { type RowKindName, rowKinds } from '../ingest/formats/row-kinds.ts'
import { plainTimeText, ReadTime, readTimeText } from '../store/time-text.ts'
import type { AdminClient } from './admin-client.ts'
import type { Batch } from './import-batch.ts'
import { readBatches, shapeOf } from './import-batches.ts'
import { lineInFile, type Progress, type RejectsFile } from './import-output.ts'
import type { ImportState } from './import-state.ts'
import { type DeviceMaker, uploadBatch } from './import-upload.ts'
import type { MappingOptions } from './mapping/mapping-options.ts'
import { ValueColumns } from './value-columns.ts'

interface ImportFilesOptions {
  kind: RowKindName
  mapping: MappingOptions
  client: AdminClient
  stdin: Readable
  progress: Progress
  devices: DeviceMaker | undefined
  rejectsFile: RejectsFile | undefined
  state: ImportState
  signal: AbortSignal
}

/** Each line with a row is in one of them. */
interface Counts {
  accepted: number
  /** Lines that replaced the row, or the value of a row, of an earlier line of the run. */
  replaced: number
  rejected: number
}

interface FileTotals extends Counts {
  file: string
  ignored_columns: string[]
  /** Ignored columns that hold numbers or times. */
  unread_columns: string[]
  /** Sentences about the choice between several possible readings of the file. */
  notices: string[]
}

export function rowCount({ accepted, replaced, rejected }: Counts): number {
  return accepted + replaced + rejected
}

/** A reject with its line in the file instead of in the request. */
type FileReject = ImportAnswer['rejects'][number] & { file: string }

export interface ImportTotals extends Counts {
  files: FileTotals[]
  /** The first ones. All of them are in the rejects file. */
  rejects: FileReject[]
  /** Readings that are stored without values out of range, and the first of them. */
  leftOut: number
  leftOutLines: FileReject[]
}

const shownRejectsMax = 1_000

/** Updates `totals` after each batch, so that the summary is right after a failure, too. */
export async function importFiles(
  files: readonly string[],
  totals: ImportTotals,
  options: ImportFilesOptions,
): Promise<void> {
  const rows = new RunRows(options.kind)
  let earlierBytes = 0
  for (const file of files) {
    const { batchesSent, ...before } = options.state.of(file)
    const ofFile: FileTotals = { file, ...before, ignored_columns: [], unread_columns: [], notices: [] }
    totals.files.push(ofFile)
    addCounts(totals, before)
    const columns = new ValueColumns()
    let fileBytes = 0
    let batchCount = 0
    for await (const batch of readBatches(file, options.stdin, shapeOf(options.kind, options.mapping))) {
      if (options.signal.aborted) return
      batchCount++
      if (batchCount > batchesSent) {
        settle(totals, ofFile, batch, await importBatch(batch, options), rows, options.rejectsFile)
        if (batch.format === 'csv') columns.noteBatch(batch)
        noteUnread(ofFile, batch, columns)
        const { accepted, replaced, rejected } = ofFile
        options.state.save(file, { batchesSent: batchCount, accepted, replaced, rejected })
      } else {
        rows.add(batch, new Set())
      }
      fileBytes = batch.fileBytesRead
      options.progress.update(earlierBytes + fileBytes, rowCount(totals))
    }
    earlierBytes += fileBytes
  }
}

/** The answer for a batch of unreadable lines. */
const nothing: ImportAnswer = {
  accepted: 0,
  replaced: 0,
  rejected: 0,
  rejects: [],
  rejects_truncated: false,
  ignored_columns: [],
}

const paths: Record<RowKindName, string> = { readings: '/import', points: '/import-points' }

async function importBatch(
  batch: Batch,
  { kind, client, devices, progress }: ImportFilesOptions,
): Promise<ImportAnswer> {
  const upload = () =>
    uploadBatch(batch, {
      client,
      path: batch.decimal === undefined ? paths[kind] : `${paths[kind]}?decimal=${batch.decimal}`,
      shape: ImportAnswer,
      onRetry: (reason, delayMs) => progress.note(`${reason}; again in ${delayMs / 1000} s`),
    })
  if (batch.lineCount === 0) return nothing
  let answer = await upload()
  // A single repeat is enough, unless the server lists fewer rejects than there are.
  while (devices !== undefined && (await devices.make(unknownDevices(answer))) > 0) answer = await upload()
  return answer
}

function unknownDevices(answer: ImportAnswer): string[] {
  return answer.rejects.flatMap(({ code, device }) =>
    code === 'DEVICE_UNKNOWN' && device !== undefined ? [device] : [],
  )
}

function settle(
  totals: ImportTotals,
  ofFile: FileTotals,
  batch: Batch,
  answer: ImportAnswer,
  rows: RunRows,
  rejectsFile: RejectsFile | undefined,
): void {
  const { file } = ofFile
  const { rejects: unread = [], replaced: merged = 0 } = batch.mapped ?? {}
  const taken = answer.accepted + answer.replaced
  // The service knows the forms of all times, and the run all of its requests.
  const known = rows.add(batch, new Set(answer.rejects.map(({ line }) => line)))
  const replaced = Math.min(taken, Math.max(answer.replaced, known))
  const counts = { accepted: taken - replaced, replaced: replaced + merged, rejected: answer.rejected + unread.length }
  addCounts(totals, counts)
  addCounts(ofFile, counts)
  const ignored = [...(batch.mapped?.ignoredColumns ?? []), ...answer.ignored_columns]
  ofFile.ignored_columns = [...new Set([...ofFile.ignored_columns, ...ignored])]
  ofFile.notices = [...new Set([...ofFile.notices, ...(batch.mapped?.notices ?? [])])]
  totals.leftOut += answer.left_out ?? 0
  const leftOut = (answer.left_out_lines ?? []).map(each => ({ ...each, file, line: lineInFile(batch, each.line) }))
  totals.leftOutLines.push(...leftOut.slice(0, shownRejectsMax - totals.leftOutLines.length))
  rejectsFile?.add(file, batch, answer.rejects)
  const rejects = [
    ...answer.rejects.map(reject => ({ ...reject, file, line: lineInFile(batch, reject.line) })),
    ...unread.map(({ line, code, reason }) => ({ line, code, reason, file })),
  ]
  totals.rejects.push(...rejects.slice(0, shownRejectsMax - totals.rejects.length))
}

function noteUnread(file: FileTotals, { mapped }: Batch, columns: ValueColumns): void {
  const unread = mapped?.unreadColumns ?? columns.among(file.ignored_columns)
  file.unread_columns = [...new Set([...file.unread_columns, ...unread])]
}

function addCounts(sum: Counts, { accepted, replaced, rejected }: Counts): void {
  sum.accepted += accepted
  sum.replaced += replaced
  sum.rejected += rejected
}

const rowsMax = 1 << 21
const seriesMax = 1_000_000
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Counts the rows of a run that replaced earlier rows, because the service compares rows of the same request only. */
class RunRows {
  readonly #columns: readonly Column[]
  /** The columns that name the series. */
  readonly #names: readonly string[]
  readonly #seen = new SeenRows(rowsMax)
  readonly #numbers = new Map<string, number>()

  constructor(kind: RowKindName) {
    this.#columns = rowKinds[kind].columns
    this.#names = this.#columns.flatMap(({ name, cell }) => (cell === 'text' ? [name] : []))
  }

  /** Adds the rows of a batch, but for the lines of its body that were rejected, and returns how many there were before. */
  add({ body, linesAt, format }: Batch, rejected: ReadonlySet<number>): number {
    const read = format === 'csv' ? this.#csvReader(body, linesAt) : createNdjsonReader(this.#columns)
    let line = linesAt > 0 ? 2 : 1
    let replaced = 0
    for (let start = linesAt; start < body.length; line++) {
      const found = body.indexOf(lineFeed, start)
      const end = found === -1 ? body.length : found
      const fields = rejected.has(line) ? '' : read?.(body, start, body[end - 1] === carriageReturn ? end - 1 : end)
      if (typeof fields === 'object' && this.#isReplacing(fields)) replaced++
      start = end + 1
    }
    return replaced
  }

  /** Reads only the columns that identify a row. */
  #csvReader(body: Buffer, linesAt: number): LineReader | undefined {
    const header = readCsvHeader(body.toString('utf8', 0, linesAt).trimEnd(), this.#columns)
    if (!header.ok) return undefined
    const columns = header.layout.columns.map(name => (name === 'timestamp' || this.#isName(name) ? name : undefined))
    return createCsvReader({ ...header.layout, columns }, this.#columns)
  }

  #isName(name: string | undefined): boolean {
    return name !== undefined && this.#names.includes(name)
  }

  #isReplacing(fields: Fields): boolean {
    const timeUs = timeUsOf(fields['timestamp'])
    if (timeUs === undefined) return false
    const series = this.#numberOf(JSON.stringify(this.#names.map(name => fields[name])))
    return series !== undefined && this.#seen.add(series, timeUs)
  }

  #numberOf(key: string): number | undefined {
    const known = this.#numbers.get(key)
    if (known !== undefined || this.#numbers.size === seriesMax) return known
    const number = this.#numbers.size
    this.#numbers.set(key, number)
    return number
  }
}

function timeUsOf(time: unknown): number | undefined {
  if (time instanceof ReadTime) return Math.round(time.ms * 1000)
  if (typeof time === 'number') return Math.round(time * 1000)
  return typeof time === 'string' ? readTimeText(plainTimeText(time)) : undefined
}
