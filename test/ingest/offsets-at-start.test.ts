/** A start that comes while the partition of a topic has no leader: it waits as long as an election takes, in virtual time. */

import t from 'tap'
import { KafkaAway, TopicMissing } from '../../ingest/kafka/kafka-errors.ts'
import { offsetsAtStart } from '../../ingest/kafka/offsets-at-start.ts'
import { createVirtualTime } from './model/virtual-time.ts'

/** Of a partition that fails until `ledAtMs`. */
function asked(ledAtMs: number, error: Error) {
  const { nowMs, after, advance } = createVirtualTime()
  let result: unknown
  const partition = {
    async offsets() {
      if (nowMs() < ledAtMs) throw error
      return { start: 3, end: 7 }
    },
  }
  offsetsAtStart(partition, { monotonicMs: nowMs, after, random: () => 0 }).then(
    offsets => {
      result = offsets
    },
    (reason: unknown) => {
      result = reason
    },
  )
  return { advance, result: () => result }
}

const noLeader = new KafkaAway('the topic has no leader')

t.test('it waits for a leader', async t => {
  const { advance, result } = asked(10_000, noLeader)
  await advance(9_000)
  t.equal(result(), undefined)
  await advance(2_000)
  t.strictSame(result(), { start: 3, end: 7 })
})

t.test('it ends the start with a sentence where none is elected', async t => {
  const { advance, result } = asked(60_000, noLeader)
  await advance(20_000)
  t.match(result(), {
    name: 'StartError',
    message: 'Kafka does not answer (the topic has no leader): check its brokers, then start again.',
  })
})

t.test('it rejects at once where there is no topic', async t => {
  const missing = new TopicMissing('there is no topic')
  const { advance, result } = asked(10_000, missing)
  await advance(0)
  t.equal(result(), missing)
})
