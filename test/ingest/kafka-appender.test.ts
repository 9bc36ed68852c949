/** Appends against a model of a broker over a network with every fault. */

import fc from 'fast-check'
import { test } from 'tap'
import {
  Appender,
  type AppendOutcome,
  epochMax,
  type Producer,
  type ProducerRequests,
} from '../../ingest/kafka/client/appender.ts'
import type { PartitionLeader } from '../../ingest/kafka/client/cluster.ts'
import { NotSent, Refused, TooLate, Unanswered } from '../../ingest/kafka/client/errors.ts'

/** A partition as Kafka has it: UnifiedLog and ProducerAppendInfo of its storage module. */
class ModelPartition {
  readonly log: string[] = []
  readonly #producers = new Map<bigint, { epoch: number; batches: { sequence: number; offset: number }[] }>()

  append(text: string, { id, epoch, sequence }: Producer): number {
    const known = this.#producers.get(id)
    const before = known?.epoch === epoch ? known.batches : []
    const duplicate = before.find(batch => batch.sequence === sequence)
    if (duplicate !== undefined) return duplicate.offset
    if (sequence > 0x7fff_ffff) throw new Error('no number of 32 bits')
    // A broker takes any number from an unknown producer.
    if (known !== undefined) {
      if (epoch < known.epoch) throw new Refused('INVALID_PRODUCER_EPOCH', null)
      if (sequence !== (before.at(-1)?.sequence ?? -1) + 1) throw new Refused('OUT_OF_ORDER_SEQUENCE_NUMBER', null)
    }
    const offset = this.log.push(text) - 1
    this.#producers.set(id, { epoch, batches: [...before, { sequence, offset }].slice(-5) })
    return offset
  }
}

/** The event of a request. A number delays it behind this many later ones, after its sender's timeout. */
const event = fc.oneof(
  { weight: 3, arbitrary: fc.constant('answered' as const) },
  fc.constantFrom(
    'answer lost',
    'never arrives',
    'not sent',
    'NOT_ENOUGH_REPLICAS',
    'MESSAGE_TOO_LARGE',
    'NOT_LEADER_OR_FOLLOWER',
    'appended, then NOT_LEADER_OR_FOLLOWER',
    'appended, then NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  ),
  fc.integer({ min: 1, max: 12 }),
)
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never

const requestMs = 3000

function createModel(events: readonly Event[], { epoch, sequence }: Omit<Producer, 'id'>) {
  const partition = new ModelPartition()
  const queue = [...events]
  let late: { after: number; arrive: () => void }[] = []
  let nowMs = 0
  let ids = 0n

  function arriveLate(requests: number): void {
    for (const request of late) request.after -= requests
    const due = late.filter(({ after }) => after <= 0)
    late = late.filter(({ after }) => after > 0)
    for (const { arrive } of due) arrive()
  }

  const requests: ProducerRequests = {
    init: async () => ({ id: ids++, epoch, sequence }),
    async produce(_broker, _topic, value, producer) {
      const text = value.toString()
      const next = queue.shift() ?? 'answered'
      arriveLate(1)
      if (next === 'answered') return partition.append(text, producer)
      if (next === 'not sent') throw new NotSent(next)
      nowMs += requestMs
      if (typeof next === 'number') {
        const arrive = () => ignoring(() => partition.append(text, producer))
        late.push({ after: next, arrive })
        throw new Unanswered('late')
      }
      if (next === 'answer lost') ignoring(() => partition.append(text, producer))
      if (next === 'answer lost' || next === 'never arrives') throw new Unanswered(next)
      if (next.startsWith('appended')) partition.append(text, producer)
      throw new Refused(next.split(' ').at(-1) ?? '', null)
    },
    close: () => undefined,
  }
  const timing = {
    monotonicMs: () => nowMs,
    after(ms: number, work: () => void) {
      nowMs += ms
      queueMicrotask(work)
      return () => undefined
    },
    random: Math.random,
  }
  const asked: ProducerRequests = {
    ...requests,
    async produce(broker, topic, value, producer, mayBegin) {
      if (!mayBegin()) throw new TooLate('too late')
      return await requests.produce(broker, topic, value, producer, mayBegin)
    },
  }
  const broker = { host: 'broker', port: 1 }
  const leader: PartitionLeader = { topic: 'topic', topicId: '', find: async () => broker, forget: () => undefined }
  const appender = new Appender({ leader, requests: asked, timing, deadlineMs: 4 * requestMs })
  return { partition, appender, arriveAll: () => arriveLate(Number.POSITIVE_INFINITY) }
}

function ignoring(work: () => void): void {
  try {
    work()
  } catch {
    // The answer is lost.
  }
}

const events = fc.array(event, { maxLength: 80 })
/** Sequence numbers at the beginning and near their maximum. */
const first = fc.constantFrom(
  { epoch: 0, sequence: 0 },
  { epoch: 0, sequence: 0x7fff_fffc },
  { epoch: 0x3ffe, sequence: 0 },
  { epoch: epochMax - 5, sequence: 0 },
)

test('groups are stored once, in order and as their outcomes say, with any faults of the network', async () => {
  const property = fc.asyncProperty(events, first, async (happens, producer) => {
    const { partition, appender, arriveAll } = createModel(happens, producer)
    const outcomes: [text: string, AppendOutcome][] = []
    for (let i = 100; i < 130; i++) outcomes.push([`${i}`, await appender.append(Buffer.from(`${i}`))])
    arriveAll()
    const { log } = partition
    if (log.some((text, i) => i > 0 && text <= (log[i - 1] ?? ''))) return false
    return outcomes.every(([text, outcome]) => {
      if (outcome.outcome === 'stored') return log[outcome.offset] === text
      return outcome.outcome === 'unknown' || !log.includes(text)
    })
  })
  await fc.assert(property, { numRuns: 1000 })
})

test('when the network works again, the next group is stored', async () => {
  const property = fc.asyncProperty(events, async happens => {
    const { appender } = createModel(happens, { epoch: 0, sequence: 0 })
    let outcome: AppendOutcome | undefined
    for (let i = 100; i < 200; i++) outcome = await appender.append(Buffer.from(`${i}`))
    return outcome?.outcome === 'stored'
  })
  await fc.assert(property, { numRuns: 300 })
})

test('a group that may not be sent any more is refused at once, unless it may be stored already', async t => {
  const late = createModel([], { epoch: 0, sequence: 0 })
  t.strictSame(await late.appender.append(Buffer.from('a'), () => false), { outcome: 'full', reason: 'too late' })
  t.strictSame(late.partition.log, [])
  t.match(await late.appender.append(Buffer.from('b'), () => true), { outcome: 'stored', offset: 0 })

  // The lease ends after the first request.
  const requests: boolean[] = []
  const mayBegin = () => requests.push(true) === 1
  const unsent = createModel(['not sent'], { epoch: 0, sequence: 0 })
  t.match(await unsent.appender.append(Buffer.from('a'), mayBegin), { outcome: 'full' })
  t.strictSame(unsent.partition.log, [])
  requests.length = 0
  const unanswered = createModel(['answer lost', 'answered'], { epoch: 0, sequence: 0 })
  t.match(await unanswered.appender.append(Buffer.from('a'), mayBegin), { outcome: 'stored', offset: 0 })
  t.equal(requests.length, 1, 'it is not asked again')
})

test('without an epoch left, nothing is stored and the reason is reported', async t => {
  const unknown = Array.from({ length: 50 }, (): Event => 'never arrives')
  const { partition, appender } = createModel(unknown, { epoch: epochMax, sequence: 0 })
  t.match(await appender.append(Buffer.from('a')), { outcome: 'unknown' })
  t.match(await appender.append(Buffer.from('b')), { outcome: 'full', reason: /restart this node/ })
  t.strictSame(partition.log, [])
})
