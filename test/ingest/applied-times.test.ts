import { test } from 'tap'
import { AppliedTimes } from '../../ingest/forwarder/applied-times.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { temporaryFolder } from '../support/databases.ts'

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
