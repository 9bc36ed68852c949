/** What a shard that is added takes from the others. */

import { test } from 'tap'
import { bucketsOf, shardCountOf, withAddedShard } from '../../placement/added-shard.ts'
import { bucketCount, oneShard } from '../../placement/placement.ts'

test('each shard that is added takes the same share of each of the others, and nothing else moves', async t => {
  let before = oneShard[0]?.shards as Uint8Array
  for (let count = 1; count < 32; count++) {
    const after = withAddedShard(before, count)
    t.ok(
      after.every((shard, bucket) => shard === before[bucket] || shard === count + 1),
      `${count + 1} shards: a bucket stays or goes to the new one`,
    )
    const buckets = bucketsOf(after, count + 1)
    t.equal(
      buckets.reduce((sum, each) => sum + each, 0),
      bucketCount,
    )
    const share = bucketCount / (count + 1)
    t.ok(
      buckets.every(each => Math.abs(each - share) <= count + 1),
      `${buckets.join()} of ${share}`,
    )
    t.equal(shardCountOf([{ shards: before }, { shards: after }]), count + 1)
    before = after
  }
})
