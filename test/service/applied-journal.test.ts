/** A service with its journal on disk starts with topics of Kafka only after QuestDB has all of it. */

import { test } from 'tap'
import { openDisk } from '../../ingest/journal/disk.ts'
import { recoverJournal } from '../../ingest/journal/recovery.ts'
import { SegmentWriter } from '../../ingest/journal/segment-writer.ts'
import { stampsOfAppliedJournal } from '../../service/open-topic-ingest.ts'
import { temporaryFolder } from '../support/databases.ts'
import { device, records, unsealed } from '../support/journal-parts.ts'

test('a journal whose readings are not in QuestDB yet is not left behind', async t => {
  const directory = temporaryFolder(t)
  t.doesNotThrow(() => stampsOfAppliedJournal(directory), 'an empty one')
  const disk = openDisk(directory)
  const writer = new SegmentWriter({ disk, end: recoverJournal(disk).end, reserveBytes: 0, segmentBytes: 1024 })
  const group = { recordCount: 1, backfillCount: 0, receiptUs: 1, lastStampUs: 1 }
  writer.commit(unsealed(records(device(1), [20], 1)), group)
  writer.close()
  t.throws(() => stampsOfAppliedJournal(directory), {
    name: 'StartError',
    message: /has 1 records that QuestDB may lack/,
  })
})
