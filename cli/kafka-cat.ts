/** Prints the records of a topic as NDJSON, a line for each record of a group, as `docs/kafka.md` describes it. */

import { groupHeaderLength, readGroup } from '../ingest/journal/group.ts'
import { offsetOf, type RecordFields, readRecord } from '../ingest/journal/record.ts'
import type { TopicPartition } from '../ingest/kafka/client/partition.ts'
import { symbolColumns, type TableDescription } from '../ingest/table.ts'

export interface CatOptions {
  partition: Pick<TopicPartition, 'fetch' | 'offsets'>
  table: TableDescription
  /** The first offset that is printed. The default is the first one of the topic. */
  from: number | undefined
  /** Groups at most. */
  groupsMax: number
  /** Resolves when the line is written, so that nothing gathers in memory. */
  print: (line: object) => Promise<void>
}

const fetchBytes = 1024 * 1024

/** Prints records from the offset up to the end of the topic at the time of the call. */
export async function catTopic({ partition, table, from, groupsMax, print }: CatOptions): Promise<void> {
  const { start, end } = await partition.offsets()
  let left = groupsMax
  for (let at = Math.max(start, from ?? start); at < end && left > 0; ) {
    const { records, nextOffset } = await partition.fetch(at, fetchBytes, 0)
    for (const record of records.filter(({ offset }) => offset < end).slice(0, left)) {
      for (const line of linesOf(table, record)) await print(line)
      left--
    }
    at = nextOffset
  }
}

function* linesOf(
  table: TableDescription,
  { offset, appendedMs, value }: { offset: number; appendedMs: number; value: Buffer },
): Generator<object> {
  const place = { offset, appended: new Date(appendedMs).toISOString() }
  const group = readGroup(value, 0, 0)
  if (group === undefined) {
    yield { ...place, damaged_bytes: value.length }
    return
  }
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength)
  const end = groupHeaderLength + group.bodyLength
  for (let at = groupHeaderLength; at < end; at += view.getUint16(at + offsetOf.length, true)) {
    yield { ...place, ...recordLine(table, readRecord(table, view, at)) }
  }
}

function recordLine(table: TableDescription, { series, symbols, timeUs, isBackfill, values, custom }: RecordFields) {
  const named = symbolColumns(table).map((column, at) => [column, symbols[at]])
  const given = table.columns.flatMap(({ name, type }) => {
    const value = values[name] ?? Number.NaN
    return Number.isNaN(value) ? [] : [[name, type === 'timestamp' ? timeText(value) : value]]
  })
  return {
    series,
    ...Object.fromEntries(named),
    [table.timestamp]: timeText(timeUs),
    backfill: isBackfill,
    ...Object.fromEntries(given),
    ...(custom.length === 0 ? {} : { further: custom.filter(({ value }) => !Number.isNaN(value)) }),
  }
}

/** Returns the time as ISO 8601 with microseconds. */
function timeText(us: number): string {
  const ms = Math.floor(us / 1000)
  return `${new Date(ms).toISOString().slice(0, -1)}${String(us - 1000 * ms).padStart(3, '0')}Z`
}
