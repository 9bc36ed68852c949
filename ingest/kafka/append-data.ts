/** What the journal's thread is started with where the medium is a topic. */

import type { JournalShared } from '../journal/journal-shared.ts'
import type { AppendDeadline } from './append-deadline.ts'
import type { KafkaOptions } from './connect.ts'

export interface AppendThreadData {
  connection: KafkaOptions
  topic: string
  shared: JournalShared
  /** Of the group that is handed over. */
  deadline: AppendDeadline['shared']
}
