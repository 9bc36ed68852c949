/** What a placement becomes when a shard is added: each of the others gives up the same share of its buckets. */

import { bucketCount } from './placement.ts'

/** The highest number of a shard that these epochs name, which are numbered without a gap. */
export function shardCountOf(placement: readonly { readonly shards: Uint8Array }[]): number {
  return Math.max(...placement.map(({ shards }) => Math.max(...shards)))
}

/** With `count` shards before, the next one gets every (count + 1)-th bucket of each, so that all have as many but for a few. */
export function withAddedShard(before: Uint8Array, count: number): Uint8Array {
  const seen = new Uint32Array(count + 1)
  const after = before.slice()
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    const shard = before[bucket] as number
    const place = ((seen[shard] as number) + 1) % (count + 1)
    seen[shard] = place
    if (place === 0) after[bucket] = count + 1
  }
  return after
}

/** How many buckets each shard has, the first one first. */
export function bucketsOf(shards: Uint8Array, count: number): number[] {
  const buckets = new Array<number>(count).fill(0)
  for (const shard of shards) buckets[shard - 1] = (buckets[shard - 1] ?? 0) + 1
  return buckets
}
