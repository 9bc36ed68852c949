/** A state that must not be stops the work, and says with which values. */

import { test } from 'tap'
import { AppliedTimes } from '../../ingest/forwarder/applied-times.ts'
import { ApplyTracker } from '../../ingest/forwarder/apply-tracker.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { Journal } from '../../ingest/journal/journal.ts'
import type { JournalThreadMessage } from '../../ingest/journal/journal-shared.ts'
import { openSegmentsMedium } from '../../ingest/journal/segments-medium.ts'
import { readingWriter } from '../../ingest/readings-table.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'

test('less is sent than is applied', t => {
  const at = (live: number, backfill: number) => ({ live, backfill, liveOrdinal: 0, backfillOrdinal: 0 })
  const applyTracker = new ApplyTracker(new Int32Array(10), at(100, 50), () => undefined)
  t.throws(() => applyTracker.mark(at(90, 50)), { message: 'BUG: sent up to 90 and 50, applied up to 100 and 50' })
  t.end()
})

test('a group is committed that was not handed over', async t => {
  let tell: (message: JournalThreadMessage) => void = () => undefined
  const common = { nowUs: () => Date.now() * 1000, log: silentLog }
  const medium = openSegmentsMedium({
    ...common,
    directory: temporaryFolder(t),
    bytesMax: 1e9,
    reserveBytes: 0,
    startThread: (_data, { onMessage }) => {
      tell = onMessage
      return { commit: () => undefined, stop: () => Promise.resolve() }
    },
  })
  const journal = new Journal({
    ...common,
    medium,
    writer: readingWriter,
    liveWindowUs: 1,
    onFatal: () => undefined,
  })
  const message = { kind: 'committed', outcome: 'stored', end: 77, reason: undefined } as const
  t.throws(() => tell(message), { message: 'BUG: a group that ends at 77 is committed, and none was handed over' })
  await journal.close()
})

test('a segment gets older while a process runs, and not in between, and is never younger than new', async t => {
  const disk = openDisk(temporaryFolder(t))
  const open = (nowMs: number) => new AppliedTimes({ disk, monotonicMs: () => nowMs })
  let nowMs = 1_000_000
  const before = new AppliedTimes({ disk, monotonicMs: () => nowMs })
  before.note(0, 0)
  before.save()
  nowMs += 60_000
  before.save()
  nowMs += 59_000
  before.save()
  t.equal(before.ageMs(0), 119_000)
  t.equal(open(400_000).ageMs(0), 60_000, 'as it was last written')
  const resent = open(9_000_000)
  resent.note(0, 10)
  t.equal(resent.ageMs(0), 10)
  disk.replace('applied-ages', Buffer.from('[[0,-5]]'))
  t.equal(open(9_000_000).ageMs(0), 0)
})
