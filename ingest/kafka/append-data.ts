/** Start data of the journal's thread for a topic. */

import type { JournalShared } from '../journal/journal-shared.ts'
import type { AppendDeadline } from './append-deadline.ts'
import type { KafkaOptions } from './connect.ts'

export interface AppendThreadData {
  connection: KafkaOptions
  topic: string
  shared: JournalShared
  /** Deadline of the group passed to the thread. */
  deadline: AppendDeadline['shared']
}
