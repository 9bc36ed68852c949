/** Appends during faults of the network: no duplicates, and no older value after a newer one. */

import t from 'tap'
import { answered, appendText, storeText, textsOf } from '../../support/kafka.ts'
import { until } from '../../support/processes.ts'
import { kafka, proxy } from './broker.ts'

const brokers = [`127.0.0.1:${proxy.port}`]

t.test('a group whose answer is lost is stored once and reported as stored', async t => {
  const client = await kafka.connect({ brokers, requestTimeoutMs: 1000, appendDeadlineMs: 10 * 60_000 })
  const topic = await kafka.makeTopic('swallowed')
  const partition = await answered(() => client.partition(topic))
  t.match(await appendText(partition, 'a'), { outcome: 'stored', offset: 0 })
  proxy.swallowed = 0
  proxy.swallowsAnswers = true
  const appended = appendText(partition, 'b')
  await until('an answer is lost', () => proxy.swallowed > 0)
  proxy.swallowsAnswers = false
  t.match(await appended, { outcome: 'stored', offset: 1 })
  t.match(await appendText(partition, 'c'), { outcome: 'stored', offset: 2 })
  t.strictSame(await textsOf(partition), ['a', 'b', 'c'])
})

for (const isLate of [true, false]) {
  const name = isLate ? 'behind a newer group is not stored' : 'in front of a newer group is stored, and so is that one'
  t.test(`a request that arrives after its deadline ${name}`, async t => {
    const client = await kafka.connect({ brokers, requestTimeoutMs: 2000, appendDeadlineMs: 2000 })
    const topic = await kafka.makeTopic(`held-${isLate}`)
    const partition = await answered(() => client.partition(topic))
    await storeText(partition, 'a')
    const held = proxy.hold()
    t.match(await appendText(partition, 'old'), { outcome: 'unknown' })
    t.ok(held.bytes() > 0)
    held.pass()
    const deliver = async () => {
      held.deliver()
      await until('the broker has answered', () => held.areAnswered())
    }
    if (!isLate) await deliver()
    await storeText(partition, 'new')
    if (isLate) await deliver()
    await storeText(partition, 'newest')
    t.strictSame([...new Set(await textsOf(partition))], ['a', ...(isLate ? [] : ['old']), 'new', 'newest'])
  })
}
