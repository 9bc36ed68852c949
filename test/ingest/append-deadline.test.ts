import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { AppendDeadline } from '../../ingest/kafka/append-deadline.ts'

test('a deadline is over by whichever clock comes first', async t => {
  let wallMs = 1_000_000
  const deadline = new AppendDeadline(undefined, () => wallMs)
  t.equal(deadline.isOver(), true, 'before one was set')
  t.equal(
    deadline.begin(() => 60_000),
    true,
  )
  const inThread = new AppendDeadline(deadline.shared, () => wallMs)
  t.equal(inThread.isOver(), false)
  wallMs += 60_000
  t.equal(inThread.isOver(), true, 'a machine that was suspended')
  t.equal(
    deadline.begin(() => 1),
    true,
  )
  await sleep(5)
  t.equal(inThread.isOver(), true, 'a process that was frozen')
  t.equal(
    deadline.begin(() => Number.POSITIVE_INFINITY),
    true,
  )
  t.equal(inThread.isOver(), false)
  for (const leftMs of [0, -1, Number.NEGATIVE_INFINITY]) {
    t.equal(
      deadline.begin(() => leftMs),
      false,
    )
    t.equal(inThread.isOver(), true)
  }
})
