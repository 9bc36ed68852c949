/** How many shards a process takes beside others, by a clock of the test. */

import { test } from 'tap'
import { createShardShare } from '../../ingest/kafka/shard-share.ts'

test('the first shard is taken at once, each further one when it was free for longer', async t => {
  let nowMs = 0
  const share = createShardShare(() => nowMs, 100)
  const claims = [share.claim(), share.claim(), share.claim()] as const
  const tried = () => claims.map(claim => claim.mayTry(false))
  t.strictSame(tried(), [true, false, false])
  nowMs = 99
  t.strictSame(tried().slice(1), [false, false])
  nowMs = 100
  t.strictSame(tried().slice(1), [true, false])
  nowMs = 199
  t.equal(claims[2].mayTry(false), false)
  nowMs = 200
  t.equal(claims[2].mayTry(false), true)
})

test('a shard that another process has begins anew to be free, and one that was lost does not count', async t => {
  let nowMs = 0
  const share = createShardShare(() => nowMs, 100)
  const [first, second] = [share.claim(), share.claim()]
  t.equal(first.mayTry(false), true)
  t.equal(second.mayTry(false), false)
  nowMs = 150
  t.equal(second.mayTry(true), false)
  t.equal(second.mayTry(false), false, 'it was held in between')
  first.failed()
  first.failed()
  t.equal(second.mayTry(false), true, 'this process has none')
  t.equal(first.mayTry(false), true, 'which has been free for 150 ms')
})
