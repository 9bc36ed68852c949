import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { AppendDeadline } from '../../ingest/kafka/append-deadline.ts'

test('a deadline is over by whichever clock comes first', async t => {
  let wallMs = 1_000_000
  const deadline = new AppendDeadline(undefined, () => wallMs)
  t.equal(deadline.isOver(), true, 'before one was set')
  const begin = (leftMs: number) => deadline.begin(() => leftMs)
  t.ok(begin(60_000))
  const inThread = new AppendDeadline(deadline.shared, () => wallMs)
  t.equal(inThread.isOver(), false)
  wallMs += 60_000
  t.equal(inThread.isOver(), true, 'a machine that was suspended')
  t.ok(begin(1))
  await sleep(5)
  t.equal(inThread.isOver(), true, 'a process that was frozen')
  t.ok(begin(Number.POSITIVE_INFINITY))
  t.equal(inThread.isOver(), false)
  for (const leftMs of [0, -1, Number.NEGATIVE_INFINITY]) {
    t.notOk(begin(leftMs))
    t.equal(inThread.isOver(), true)
  }
})
