/** The first offset whose record Kafka received at a time or later, or the end of the topic. Receipt times ascend. */

import type { TopicPartition } from './topic-partition.ts'

export async function offsetAt(partition: Pick<TopicPartition, 'offsets' | 'fetch'>, timeMs: number): Promise<number> {
  let { start: low, end: high } = await partition.offsets()
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { records } = await partition.fetch(middle, 1, 0)
    const [record] = records
    // Deleted or compacted records are skipped.
    if (record === undefined) high = middle
    else if (record.appendedMs >= timeMs) high = middle
    else low = Math.max(middle, record.offset) + 1
  }
  return low
}
