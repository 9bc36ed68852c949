/** Which replicas are lost: those that lack what Kafka is about to delete, while another one has it. */

import t from 'tap'
import { lostIn } from '../../ingest/kafka/lost-replicas.ts'

const hourMs = 3_600_000
const nowMs = Date.UTC(2026, 0, 10)

interface State {
  /** Offsets, by number less 1. */
  shown: (number | undefined)[]
  /** Of the topic. */
  start?: number
  /** How long ago Kafka took each record. */
  ageMs?: number
  /** A replica that is lost already. */
  lost?: number
}

async function lost({ shown, start = 0, ageMs = 0, lost }: State): Promise<number[]> {
  const fetched: number[] = []
  const found = await lostIn(
    {
      topic: 'readings',
      partition: {
        offsets: async () => ({ start, end: 100 }),
        async fetch(offset) {
          fetched.push(offset)
          return { records: [{ offset, appendedMs: nowMs - ageMs }], nextOffset: offset + 1 } as never
        },
      },
      replicas: shown.map((offset, at) => ({
        number: at + 1,
        shown: () => offset,
        lost: () => (lost === at + 1 ? 'why' : undefined),
      })),
      retentionMs: () => 10 * hourMs,
    },
    nowMs,
  )
  t.ok(
    fetched.every(offset => offset >= start),
    'no deleted record is asked for',
  )
  return found.map(([replica]) => replica)
}

t.test('a replica is lost when it lacks records that are older than half of the retention', async t => {
  t.strictSame(await lost({ shown: [100, 40], ageMs: 4 * hourMs }), [])
  t.strictSame(await lost({ shown: [100, 40], ageMs: 6 * hourMs }), [2])
  t.strictSame(await lost({ shown: [40, 100, undefined], ageMs: 6 * hourMs }), [1, 3])
})

t.test('a replica is lost when Kafka has deleted records that it lacks', async t => {
  t.strictSame(await lost({ shown: [100, 40], start: 41 }), [2])
  t.strictSame(await lost({ shown: [100, 40], start: 40 }), [])
})

t.test('the one that has most is never lost, nor one that is lost already', async t => {
  t.strictSame(await lost({ shown: [40, 40], start: 90, ageMs: 9 * hourMs }), [])
  t.strictSame(await lost({ shown: [100, 40], start: 90, lost: 2 }), [])
})
