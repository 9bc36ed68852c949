/** Kills the leader among three brokers while readings arrive. */

import type { Bounds } from './bounds.ts'
import { Ledger, loadReadings } from './journal-load.ts'
import { openTopicJournal, startBenchKafka } from './kafka-brokers.ts'
import { createHooks, round, sleep } from './measure.ts'

const inFlight = 64
const beforeSeconds = 3
/** Counted from the first acknowledgement without the broker. */
const afterSeconds = 3
const waitSecondsMax = 60
/** `broker.session.timeout.ms` of three brokers. */
const sessionSeconds = 9
const sessionsMax = 2

export async function measureBrokerLoss(bounds: Bounds): Promise<object> {
  const { hooks, closeAll } = createHooks()
  try {
    const kafka = await startBenchKafka(hooks, 3)
    const topic = 'bench-loss'
    const { journal, partition } = await openTopicJournal(hooks, kafka, topic)
    const ledger = new Ledger()
    let isOver = false
    const running = loadReadings({ journal, ledger, inFlight, isOver: () => isOver })
    await sleep(beforeSeconds * 1000)
    const leader = (await kafka.kafka.admin.partitions(topic))?.[0]?.leader
    const broker = kafka.brokers.find(({ address }) => address === `${leader?.host}:${leader?.port}`)
    if (broker === undefined) throw new Error('no broker leads the topic')
    await broker.kill()
    const { records: atKill } = journal.status()
    await sleep(afterSeconds * 1000)
    for (let waited = 0; journal.status().records <= atKill + inFlight && waited < waitSecondsMax; waited++) {
      await sleep(1000)
    }
    await sleep(afterSeconds * 1000)
    isOver = true
    const run = await running
    const seconds = run.pauseMs / 1000
    const name = 'leader killed, longest pause between acknowledgements, times the session timeout of brokers'
    const more = { seconds: round(seconds), perSecond: round(run.perSecond), refused: run.refused }
    bounds.atMost(name, seconds / sessionSeconds, sessionsMax, more)
    bounds.must('all that was acknowledged is in the topic of three brokers, once', await ledger.isIn(partition))
    return { acknowledged: run.acknowledged, refused: run.refused }
  } finally {
    await closeAll()
  }
}
