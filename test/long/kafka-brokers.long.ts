/** Three brokers of which some are frozen or killed, all of them once: groups are stored once, in order, and as told. */

import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import type { KafkaBroker } from '../../cli/demo/cluster/kafka-broker.ts'
import type { AppendOutcome } from '../../ingest/kafka/appender.ts'
import type { TopicPartition } from '../../ingest/kafka/topic-partition.ts'
import { freeze } from '../support/frozen.ts'
import { appendText, startKafka, type TestKafka, textsOf } from '../support/kafka.ts'
import { until } from '../support/processes.ts'

/** Appends numbers from 0 on, one after the other, until it is stopped. */
function startLoad(partition: TopicPartition) {
  const outcomes: AppendOutcome[] = []
  let isStopped = false
  const ended = (async () => {
    while (!isStopped) {
      outcomes.push(await appendText(partition, `${outcomes.length}`))
      await sleep(10)
    }
  })()
  const next = async (what: string, isMet: (outcome: AppendOutcome) => boolean) => {
    // Not that which is under way.
    const from = outcomes.length + 1
    await until(what, () => outcomes.slice(from).some(isMet))
  }
  return {
    outcomes,
    stored: () => next('a group is stored', ({ outcome }) => outcome === 'stored'),
    failed: () => next('a group is not stored', ({ outcome }) => outcome !== 'stored'),
    refused: (reason: string) => next(reason, given => given.outcome === 'full' && given.reason === reason),
    async stop() {
      isStopped = true
      await ended
    },
  }
}

/** What contradicts the outcomes. */
async function contradictions(partition: TopicPartition, outcomes: readonly AppendOutcome[]): Promise<string[]> {
  const texts = await textsOf(partition)
  const present = new Set(texts)
  const disordered = texts.filter((text, i) => i > 0 && Number(text) <= Number(texts[i - 1]))
  const wrong = [...outcomes.entries()].filter(([i, given]) => {
    return given.outcome === 'stored' ? texts[given.offset] !== `${i}` : given.outcome === 'full' && present.has(`${i}`)
  })
  return [...disordered.map(text => `${text} is out of order`), ...wrong.map(given => JSON.stringify(given))]
}

async function leaderFirst(kafka: TestKafka, topic: string): Promise<[KafkaBroker, KafkaBroker, KafkaBroker]> {
  const client = await kafka.connect()
  const port = (await client.admin.partitions(topic))?.[0]?.leader?.port
  await client.close()
  const isLeader = ({ address }: KafkaBroker) => address.endsWith(`:${port}`)
  const ordered = [...kafka.brokers].sort((one, other) => Number(isLeader(other)) - Number(isLeader(one)))
  return ordered as [KafkaBroker, KafkaBroker, KafkaBroker]
}

test('three brokers', async t => {
  const kafka = await startKafka(t, { brokers: 3 })
  const client = await kafka.connect({ appendDeadlineMs: 20_000 })

  t.test('the leader frozen and killed, two killed, all killed', async t => {
    const topic = await kafka.makeTopic('faults')
    const partition = await client.partition(topic)
    const load = startLoad(partition)
    await load.stored()

    const [frozen] = await leaderFirst(kafka, topic)
    const thaw = freeze(frozen.pid())
    await load.stored()
    thaw()
    await load.stored()

    const [killed] = await leaderFirst(kafka, topic)
    await killed.kill()
    await load.stored()
    await killed.start()
    await load.stored()

    for (const count of [2, 3]) {
      const some = (await leaderFirst(kafka, topic)).slice(-count)
      await Promise.all(some.map(broker => broker.kill()))
      await load.failed()
      await Promise.all(some.map(broker => broker.start()))
      await load.stored()
    }

    await load.stop()
    t.strictSame(await contradictions(partition, load.outcomes), [])
  })

  t.test('fewer replicas in sync than the topic asks for', async t => {
    const topic = await kafka.makeTopic('replicas', { 'min.insync.replicas': '3' })
    const partition = await client.partition(topic)
    const load = startLoad(partition)
    await load.stored()
    const [, follower] = await leaderFirst(kafka, topic)
    await follower.kill()
    await load.refused('NOT_ENOUGH_REPLICAS')
    await follower.start()
    await load.stored()
    await load.stop()
    t.strictSame(await contradictions(partition, load.outcomes), [])
  })
})
