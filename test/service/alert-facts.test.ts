/** Facts of the service for rules of alerts. */

import { test } from 'tap'
import type { TopicState } from '../../ingest/kafka/state/watch.ts'
import { type AlertFactsOptions, createAlertFacts } from '../../service/alert-observations.ts'

const problem = { kind: 'unforwarded', text: 'no process forwards it to the replica 2' } as const

/** Two replicas, with readings and points that QuestDB lacks since these times, and a topic. */
function factsOf(given: { lags?: [number, number]; behindMs?: number[]; topic?: Partial<TopicState> }) {
  const { lags = [0, 0], behindMs = [0, 0], topic = {} } = given
  const [ingest, pointsIngest] = lags.map(seconds => ({
    status: () => ({
      lag: { rows: 1, seconds },
      forwarder: { deadLetters: 0 },
      journal: { bytes: 0, bytesMax: 1, issue: undefined },
      clock: { steps: 0, aheadSeconds: 0 },
    }),
  })) as unknown as [AlertFactsOptions['ingest'], AlertFactsOptions['pointsIngest']]
  const up = { state: () => ({ state: 'up', reason: undefined, isLost: false }) as never }
  return createAlertFacts({
    replicas: [1, 2].map(number => ({ number, questdb: up })),
    readReplicas: { behindMs: () => behindMs },
    ingest,
    pointsIngest,
    topicStates: () => [{ topic: 'readings', sight: undefined, share: 0, unforwardedMs: 0, problems: [], ...topic }],
    diskUse: { read: async () => ({ daysUntilFull: undefined }) as never },
    nowMs: () => 0,
  })
}

test('readings are late by the worst of the journals and the replicas', async t => {
  const late = async (given: Parameters<typeof factsOf>[0]) => {
    return (await factsOf(given)()).find(({ fact }) => fact === 'forwarding_late')
  }
  t.match(await late({}), { value: 0, text: '' })
  t.match(await late({ lags: [75, 1] }), { value: 75 })
  t.match(await late({ lags: [1, 76] }), { value: 76 }, 'points')
  t.match(await late({ behindMs: [0, 77_000] }), { value: 77 }, 'the first replica has everything')
  const topic = { unforwardedMs: 78_000, problems: [problem] }
  t.match(await late({ lags: [5, 0], topic }), { value: 78, text: problem.text }, 'no reading has come since')
})
