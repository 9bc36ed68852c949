import { Journal, type JournalOptions } from '../../ingest/journal/journal.ts'
import { openSegmentsMedium, type SegmentsMediumOptions } from '../../ingest/journal/medium.ts'
import type { Reading } from '../../ingest/reading.ts'
import { type DeviceRef, readingWriter } from '../../ingest/readings-table.ts'
import { silentLog, type TestHooks } from '../support/databases.ts'

export type TestJournalOptions = Omit<JournalOptions<DeviceRef, Reading>, 'medium'> & SegmentsMediumOptions

export type ReadingJournal = Journal<DeviceRef, Reading>

export function openTestJournal(
  t: TestHooks,
  directory: string,
  options: Partial<TestJournalOptions> = {},
): ReadingJournal {
  const all = {
    writer: readingWriter,
    directory,
    bytesMax: 1024 ** 3,
    reserveBytes: 0,
    liveWindowUs: 300_000_000,
    nowUs: () => Date.now() * 1000,
    log: silentLog,
    onFatal: (error: Error) => {
      throw error
    },
    ...options,
  }
  const journal = new Journal({ ...all, medium: openSegmentsMedium(all) })
  t.teardown(() => journal.close())
  return journal
}
