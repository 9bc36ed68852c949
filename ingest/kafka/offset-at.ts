/** The first offset of a topic whose record Kafka got at a time or later; its end where there is none. The times ascend. */

import type { TopicPartition } from './topic-partition.ts'

export async function offsetAt(partition: Pick<TopicPartition, 'offsets' | 'fetch'>, timeMs: number): Promise<number> {
  let { start: low, end: high } = await partition.offsets()
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { records } = await partition.fetch(middle, 1, 0)
    const [record] = records
    // What Kafka has deleted or compacted since is passed over.
    if (record === undefined) high = middle
    else if (record.appendedMs >= timeMs) high = middle
    else low = Math.max(middle, record.offset) + 1
  }
  return low
}
