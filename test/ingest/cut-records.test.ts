/** Records of several shards, cut. */

import { test } from 'tap'
import { cutRecords } from '../../ingest/kafka/cut-records.ts'
import { device, records } from '../support/journal-parts.ts'

test('each shard has its records in their order, and the bytes of one shard are not copied', async t => {
  const [a, b, c] = [records(device(1), [1, 2], 1000), records(device(2), [3], 1000), records(device(1), [4], 1000)]
  const all = Buffer.concat([a, b, c])
  t.strictSame(
    cutRecords(all, series => series).map(({ shard, records }) => [shard, Buffer.from(records)]),
    [
      [1, Buffer.concat([a, c])],
      [2, Buffer.from(b)],
    ],
  )
  const [whole, ...more] = cutRecords(all, () => 3)
  t.equal(whole?.records, all)
  t.equal(whole?.shard, 3)
  t.strictSame(more, [])
  t.strictSame(
    cutRecords(new Uint8Array(), () => 1),
    [],
  )
})
