/** A feed of a topic against a model that knows every row's transaction, whatever happens in whatever order. */

import fc from 'fast-check'
import { test } from 'tap'
import { runs } from '../support/runs.ts'
import { ForwardedTopic, type Lane, seriesNumbers } from './forwarded-topic.ts'

type Step = (topic: ForwardedTopic) => void | Promise<void>

function stepOf<Value>(values: fc.Arbitrary<Value>, act: (topic: ForwardedTopic, value: Value) => ReturnType<Step>) {
  return values.map(
    (value): Step =>
      topic =>
        act(topic, value),
  )
}

const row = fc.record({ series: fc.constantFrom(...seriesNumbers), timeUs: fc.nat(1000), isLate: fc.boolean() })
const group = fc.array(row, { minLength: 1, maxLength: 4 })
const share = fc.double({ min: 0, max: 1, noNaN: true })
const often: fc.Arbitrary<Step>[] = [
  stepOf(fc.tuple(group, fc.nat(9)), (topic, [rows, chance]) => topic.append(rows, chance === 0)),
  stepOf(fc.constantFrom<Lane>('live', 'backfill'), (topic, lane) => topic.send(lane)),
  stepOf(fc.tuple(fc.nat(5), fc.boolean()), (topic, [count, isCommitted]) => topic.apply(count, isCommitted)),
  stepOf(fc.nat(4), (topic, count) => topic.read(count)),
  stepOf(fc.constantFrom('publish', 'deliver', 'both'), (topic, what) => {
    if (what !== 'deliver') topic.publish()
    if (what !== 'publish') topic.deliver()
  }),
  stepOf(fc.nat(4), (topic, count) => topic.refreshView(count)),
]
const trouble = fc.constantFrom('takeOver' as const, 'restartFeed' as const, 'failFetch' as const)
const seldom: fc.Arbitrary<Step> = fc.oneof(
  stepOf(trouble, (topic, what) => topic[what]()),
  stepOf(share, (topic, kept) => topic.lose(kept)),
  stepOf(share, (topic, kept) => topic.retain(kept)),
)
const steps = fc.array(
  fc.oneof(...often.map(arbitrary => ({ arbitrary, weight: 6 })), { arbitrary: seldom, weight: 3 }),
  { maxLength: 150, size: 'max' },
)

async function holds(check: (topic: ForwardedTopic, acts: readonly Step[]) => Promise<void>): Promise<void> {
  const property = fc.asyncProperty(steps, async acts => {
    const topic = new ForwardedTopic()
    try {
      await check(topic, acts)
    } finally {
      await topic.close()
    }
  })
  await fc.assert(property, runs(20, 200))
}

test('rows are told in order and once, revisions are raised when rows show, and no row is older than is said', async () => {
  await holds(async (topic, acts) => {
    for (const act of acts) {
      await act(topic)
      topic.assert()
    }
  })
})

test('when everything has settled the view is known to have all rows', async () => {
  await holds(async (topic, acts) => {
    for (const act of acts) await act(topic)
    await topic.settle()
  })
})
