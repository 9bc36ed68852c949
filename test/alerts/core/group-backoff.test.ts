import { test } from 'tap'
import { backoffEndMs, type GroupState, nextDueMs, reviewMs, sortMembers } from '../../../alerts/outbox/group-plan.ts'

/** Minutes, with an interval of five. */
const waitsUntil = (...minutes: number[]) =>
  backoffEndMs(
    minutes.map(minute => minute * 60_000),
    300_000,
  ) / 60_000
const never = Number.NEGATIVE_INFINITY

test('after seven notifications with news in an hour, a group waits until it was quiet', async t => {
  t.equal(waitsUntil(), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30), 60)
  t.equal(waitsUntil(0, 10, 20, 30, 40, 50, 60), 90)
  t.equal(waitsUntil(0, 10, 20, 30, 40, 50, 61), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 60, 90), 120, 'it goes on')
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 71), never, 'it was still')
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 71, 76, 81, 86, 91, 96, 101), 131, 'and begins again')
})

const group: GroupState = {
  ...{ nowMs: 1000, lastSentMs: 0, holdEndsMs: Number.POSITIVE_INFINITY },
  ...{ hasFiring: false, hasUnacknowledged: false, hasHeldUnacknowledged: false },
}

test('the end of an alert that was held before any notification is not notified', async t => {
  const member = { id: 7, device: 1, state: 'resolved', told: 'nothing' } as never
  const ended = (wasHeld: number[]) => sortMembers([member], () => undefined, new Set(wasHeld), group)
  t.match(ended([7]), { unnotified: [7], ended: [] })
  t.match(ended([]), { unnotified: [], ended: [{ id: 7 }] })
})

test('a held alert without an acknowledgement is reviewed when it would be repeated', async t => {
  const waits = { repeatMs: 10, groupIntervalMs: 1 } as never
  const due = (more: Partial<GroupState>) => nextDueMs({ ...group, ...more }, { waits, refreshMs: undefined })
  t.strictSame([due({}), due({ hasHeldUnacknowledged: true })], [undefined, 1000 + reviewMs])
})
