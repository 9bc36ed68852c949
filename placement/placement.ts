/**
 * Which shard has the rows of a device at a time: a pure function of the two, so that a row that comes late or again goes to
 * where its time belongs, and no row ever moves.
 */

import { bug } from '../limits/bug.ts'

/** Buckets that devices are dealt to; a placement says which shard has each. */
export const bucketCount = 4096

/** From a moment on. */
export interface Epoch {
  /** Microseconds, the start of a UTC day; -Infinity in the first one. */
  readonly fromUs: number
  /** The number of the shard, from 1 on, by bucket. */
  readonly shards: Uint8Array
}

/** At least one, ascending by `fromUs`; each ends where the next one begins. */
export type Placement = readonly Epoch[]

/** A stretch of time, and the shard that has the rows of it. */
export interface Place {
  readonly shard: number
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
}

/** All devices at all times are on shard 1. */
export const oneShard: Placement = [{ fromUs: Number.NEGATIVE_INFINITY, shards: new Uint8Array(bucketCount).fill(1) }]

/**
 * The finalizer of MurmurHash3 over 32 bits, so that neighbouring numbers lie in different buckets. It must never change: rows
 * are where it says.
 */
export function bucketOf(deviceNumber: number): number {
  let mixed = deviceNumber >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) & (bucketCount - 1)
}

/** By bucket, 1 where rows of a time from this one on, microseconds, are on one of these shards. */
export function bucketsOn(placement: Placement, shards: ReadonlySet<number>, fromUs: number): Uint8Array<ArrayBuffer> {
  const flags = new Uint8Array(bucketCount)
  for (const [at, epoch] of placement.entries()) {
    if ((placement[at + 1]?.fromUs ?? Number.POSITIVE_INFINITY) <= fromUs) continue
    for (let bucket = 0; bucket < bucketCount; bucket++)
      if (shards.has(shardOf(epoch.shards, bucket))) flags[bucket] = 1
  }
  return flags
}

export function shardAt(placement: Placement, deviceNumber: number, timeUs: number): number {
  const bucket = bucketOf(deviceNumber)
  // There are few epochs, and most times are of the last one.
  for (let at = placement.length - 1; at >= 0; at--) {
    const { fromUs, shards } = placement[at] as Epoch
    if (timeUs >= fromUs) return shardOf(shards, bucket)
  }
  throw bug(`no epoch has the time ${timeUs}`)
}

/** The places of a device in the range, ascending; neighbours are on different shards. None of an empty range. */
export function placesOf(placement: Placement, deviceNumber: number, fromUs: number, toUs: number): Place[] {
  const bucket = bucketOf(deviceNumber)
  const places: Place[] = []
  for (const [at, epoch] of placement.entries()) {
    const from = Math.max(fromUs, epoch.fromUs)
    const to = Math.min(toUs, placement[at + 1]?.fromUs ?? Number.POSITIVE_INFINITY)
    if (from >= to) continue
    const shard = shardOf(epoch.shards, bucket)
    const last = places.at(-1)
    if (last?.shard === shard) places[places.length - 1] = { ...last, toUs: to }
    else places.push({ shard, fromUs: from, toUs: to })
  }
  return places
}

/** What of these places lies in the range, ascending as they are. */
export function placesWithin(places: readonly Place[], fromUs: number, toUs: number): Place[] {
  const within = places.map(({ shard, ...place }) => {
    return { shard, fromUs: Math.max(fromUs, place.fromUs), toUs: Math.min(toUs, place.toUs) }
  })
  return within.filter(place => place.fromUs < place.toUs)
}

/** The shards that have rows of the range, ascending. */
export function shardsWithin(placement: Placement, fromUs: number, toUs: number): number[] {
  const shards = new Set<number>()
  for (const [at, epoch] of placement.entries()) {
    const endUs = placement[at + 1]?.fromUs ?? Number.POSITIVE_INFINITY
    if (Math.max(fromUs, epoch.fromUs) < Math.min(toUs, endUs)) for (const shard of shardsIn(epoch)) shards.add(shard)
  }
  return [...shards].sort((a, b) => a - b)
}

/** Asked for again and again, of some thousand buckets. */
const shardsByEpoch = new WeakMap<Uint8Array, ReadonlySet<number>>()

function shardsIn({ shards }: Epoch): ReadonlySet<number> {
  const known = shardsByEpoch.get(shards)
  if (known !== undefined) return known
  const found = new Set(shards)
  shardsByEpoch.set(shards, found)
  return found
}

function shardOf(shards: Uint8Array, bucket: number): number {
  const shard = shards[bucket]
  if (shard === undefined || shard === 0) throw bug(`bucket ${bucket} has no shard`)
  return shard
}
