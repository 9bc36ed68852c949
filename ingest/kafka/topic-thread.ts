/** The forwarder's thread over a spool of a topic, from its start to its stop. */

import type { Log } from '../../store/log.ts'
import type { Hold } from '../../store/postgres/held-lock/hold.ts'
import { revisionSlots } from '../forwarder/dirty-set.ts'
import { type ForwarderHandle, startForwarder } from '../forwarder/forwarder-handle.ts'
import type { ForwarderStart } from '../forwarder/forwarder-messages.ts'
import { statusBefore } from '../forwarder/forwarder-status.ts'
import type { TableDescription } from '../table.ts'
import { openSpoolPort, type SpoolPort } from './spool-port.ts'
import type { SpoolSourceData } from './spool-thread.ts'

export interface ForwardedTopic {
  topic: string
  table: TableDescription
  /** Of the spool; what is in it goes at each start. */
  directory: string
  /** Where damaged groups are kept. */
  damagedDirectory: string
}

export interface TopicThreadOptions extends ForwardedTopic, Omit<SpoolSourceData, 'hold' | 'port'> {
  hold: Hold
  /** QuestDB as it is now. */
  questdb: QuestdbStart
  /** Of the topic in QuestDB. */
  journalId: string
  log: Log
  onFatal: (error: Error) => void
}

export type QuestdbStart = Omit<ForwarderStart, 'keepMs' | 'keepBytesMax' | 'place'>

export interface TopicThread {
  handle: ForwarderHandle
  port: SpoolPort
}

export const statusAtBegin = statusBefore('the forwarder is starting')

export function startTopicThread(options: TopicThreadOptions): TopicThread {
  const { table, hold, questdb, journalId, log, onFatal, ...given } = options
  const port = openSpoolPort()
  const source: SpoolSourceData = { ...given, hold: hold.shared, port: port.port }
  const handle = startForwarder({
    module: new URL('./spool-thread.ts', import.meta.url),
    table,
    source,
    transferList: [port.port],
    // Other processes read the topic too, and learn from its status what they can see.
    revisions: new Int32Array(new SharedArrayBuffer(4 * revisionSlots)),
    status: statusAtBegin,
    log,
    onFatal,
  })
  handle.start({
    ...questdb,
    place: { id: journalId, from: undefined },
    keepMs: given.keepMs,
    keepBytesMax: given.bytesMax / 2,
  })
  return { handle, port }
}
