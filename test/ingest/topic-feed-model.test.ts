/** A feed of a topic against a model that knows every row's transaction, whatever happens in whatever order. */

import fc from 'fast-check'
import { test } from 'tap'
import { ForwardedTopic, type Lane, seriesNumbers } from '../support/forwarded-topic.ts'
import { runs } from '../support/runs.ts'

type Step = (topic: ForwardedTopic) => void | Promise<void>

const row = fc.record({
  series: fc.constantFrom(...seriesNumbers),
  timeUs: fc.nat(1000),
  isLate: fc.boolean(),
})
const often: fc.Arbitrary<Step>[] = [
  fc.tuple(fc.array(row, { minLength: 1, maxLength: 4 }), fc.nat(9)).map(
    ([rows, chance]): Step =>
      topic =>
        topic.append(rows, chance === 0),
  ),
  fc.constantFrom<Lane>('live', 'backfill').map(
    (lane): Step =>
      topic =>
        topic.send(lane),
  ),
  fc.tuple(fc.nat(5), fc.boolean()).map(
    ([count, isCommitted]): Step =>
      topic =>
        topic.apply(count, isCommitted),
  ),
  fc.integer({ min: 0, max: 4 }).map(
    (count): Step =>
      topic =>
        topic.read(count),
  ),
  fc.constantFrom<Step>(
    topic => topic.publish(),
    topic => topic.deliver(),
    topic => {
      topic.publish()
      topic.deliver()
    },
  ),
  fc.nat(4).map(
    (count): Step =>
      topic =>
        topic.refreshView(count),
  ),
]
const seldom: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom<Step>(
    topic => topic.takeOver(),
    topic => topic.restartFeed(),
    topic => topic.failFetch(),
  ),
  fc.double({ min: 0, max: 1, noNaN: true }).map(
    (share): Step =>
      topic =>
        topic.lose(share),
  ),
  fc.double({ min: 0, max: 1, noNaN: true }).map(
    (share): Step =>
      topic =>
        topic.retain(share),
  ),
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
