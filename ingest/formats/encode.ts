/** Encodes checked rows as records for the journal, once their series are known. */

import { bug } from '../../store/limits/bug.ts'
import { markFineTime } from '../journal/record.ts'
import { expiredReason } from '../reading.ts'
import type { SeenRows } from './merged-rows.ts'
import type { NameIndex } from './name-index.ts'
import { type Reject, type RejectCode, RejectList } from './reject.ts'
import type { RowKind, Series } from './row-kind.ts'
import { customBytesOf, customOf, type Rows } from './rows.ts'

/** Reason why the rows of a name are rejected. */
export interface Unresolved {
  code: RejectCode
  reason: string
}

export interface EncodeOptions {
  names: Pick<NameIndex, 'textOf'>
  /** Series or rejection of each name. */
  resolved: readonly (Series | Unresolved)[]
  nowMs: number
  /** Rows before this time have expired since their check. */
  earliestMs?: number | undefined
  rejectsMax: number
  /** Rows of the same body. */
  seen?: SeenRows | undefined
}

export interface EncodedRows {
  records: Uint8Array<ArrayBuffer>
  count: number
  /** Rows that replace an earlier one of the body. */
  replaced: number
  /** Earliest time of the records; Infinity without records. */
  oldestMs: number
  rejects: Reject[]
  rejected: number
}

export function encodeRows(kind: RowKind<never>, rows: Rows, options: EncodeOptions): EncodedRows {
  const { names, resolved, earliestMs = Number.NEGATIVE_INFINITY } = options
  const { writer } = kind
  const rejects = new RejectList(kind.subject, options.rejectsMax)
  const records = new Uint8Array(recordsLength(kind, rows, resolved))
  const view = new DataView(records.buffer)
  const values = kind.createValues(options.nowMs)
  let offset = 0
  let count = 0
  let replaced = 0
  let oldestMs = Number.POSITIVE_INFINITY
  for (let row = 0; row < rows.count; row++) {
    const index = rows.names[row] ?? 0
    const series = resolvedAt(resolved, index)
    if ('reason' in series) {
      const { code, reason } = series
      rejects.add(rows.lines[row] ?? 0, names.textOf(index), code, reason)
      continue
    }
    const timeMs = rows.timesMs[row] ?? 0
    if (timeMs < earliestMs) {
      const reason = `timestamp ${expiredReason(earliestMs)}`
      rejects.add(rows.lines[row] ?? 0, names.textOf(index), kind.invalidCode, reason)
      continue
    }
    if (timeMs < oldestMs) oldestMs = timeMs
    takeRow(kind, rows, row, timeMs, values)
    // A time may have microseconds as a fraction.
    const timeUs = Math.round(timeMs * 1000)
    // The journal chooses the lane.
    const next = writer.write(view, offset, series, timeUs, false, values)
    if (timeUs % 1000 !== 0) markFineTime(view, offset)
    offset = next
    count++
    replaced += Number(options.seen?.add(series.number, timeUs) ?? 0)
  }
  return {
    records: offset === records.length ? records : records.slice(0, offset),
    count,
    replaced,
    oldestMs,
    rejects: rejects.listed,
    rejected: rejects.count,
  }
}

function takeRow(kind: RowKind<never>, rows: Rows, row: number, timeMs: number, values: never): void {
  kind.take(rows.values, row * kind.valuesPerRow, timeMs, values)
  if (rows.custom !== undefined) kind.setCustom?.(values, customOf(rows.custom, row))
}

function resolvedAt(resolved: EncodeOptions['resolved'], index: number): Series | Unresolved {
  const series = resolved[index]
  if (series === undefined) throw bug(`name ${index} is not resolved`)
  return series
}

function recordsLength(kind: RowKind<never>, rows: Rows, resolved: EncodeOptions['resolved']): number {
  const { writer } = kind
  const values = kind.createValues(0)
  const lengths = resolved.map(series => ('reason' in series ? 0 : writer.length(series, values)))
  let length = rows.custom === undefined ? 0 : customBytesOf(rows.custom, rows.count)
  for (let row = 0; row < rows.count; row++) length += lengths[rows.names[row] ?? 0] ?? 0
  return length
}

/** Excludes listed lines that are rejected for their device. */
export function ofResolved<Lines extends { rejected: number; rejects: Reject[] }>(
  lines: Lines,
  resolved: EncodeOptions['resolved'],
  nameOf: (index: number) => string,
): Lines {
  if (lines.rejected === 0) return lines
  const unresolved = new Set(resolved.flatMap((each, index) => ('reason' in each ? [nameOf(index)] : [])))
  const rejects = lines.rejects.filter(({ device = '' }) => !unresolved.has(device))
  return { ...lines, rejected: lines.rejected - lines.rejects.length + rejects.length, rejects }
}
