/** The topics of a shard: one for each table, which is that table's journal. */

export interface ShardTopics {
  readings: string
  points: string
}

/** `shard` is numbered from 1 on. */
export function topicsOf(prefix: string, shard: number): ShardTopics {
  return { readings: `${prefix}readings-s${shard}`, points: `${prefix}points-s${shard}` }
}

/** Those of the shards from the first one to this one. */
export function topicsOfShards(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => Object.values(topicsOf(prefix, at + 1))).flat()
}
