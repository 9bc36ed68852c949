/** Cuts whole records by the shards that they belong to. */

import { offsetOf } from '../journal/record.ts'

export interface ShardRecords {
  shard: number
  records: Uint8Array
}

/** Those of each shard, in their order; the bytes themselves where all are of one. */
export function cutRecords(
  records: Uint8Array,
  shardOf: (series: number, timeUs: number) => number,
): readonly ShardRecords[] {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const bytes = new Map<number, number>()
  forEachRecord(view, shardOf, (shard, _at, length) => bytes.set(shard, (bytes.get(shard) ?? 0) + length))
  if (bytes.size <= 1) return [...bytes.keys()].map(shard => ({ shard, records }))
  const cut = new Map([...bytes].map(([shard, length]) => [shard, { records: new Uint8Array(length), used: 0 }]))
  forEachRecord(view, shardOf, (shard, at, length) => {
    const own = cut.get(shard) as { records: Uint8Array; used: number }
    own.records.set(records.subarray(at, at + length), own.used)
    own.used += length
  })
  return [...cut].map(([shard, own]) => ({ shard, records: own.records }))
}

/** The shards that they are of, each once. */
export function shardsOf(records: Uint8Array, shardOf: (series: number, timeUs: number) => number): number[] {
  const shards = new Set<number>()
  forEachRecord(new DataView(records.buffer, records.byteOffset, records.byteLength), shardOf, shard =>
    shards.add(shard),
  )
  return [...shards]
}

function forEachRecord(
  view: DataView,
  shardOf: (series: number, timeUs: number) => number,
  visit: (shard: number, at: number, length: number) => void,
): void {
  for (let at = 0; at < view.byteLength; ) {
    const length = view.getUint16(at + offsetOf.length, true)
    const series = view.getUint32(at + offsetOf.series, true)
    visit(shardOf(series, view.getFloat64(at + offsetOf.timeUs, true)), at, length)
    at += length
  }
}
