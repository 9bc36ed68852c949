/** The forwarder's thread over a spool of a topic, from its start to its stop. */

import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Log } from '../../../store/log.ts'
import type { Hold } from '../../../store/postgres/held-lock.ts'
import { revisionSlots } from '../../forwarder/apply-tracker.ts'
import { type ForwarderHandle, startForwarder } from '../../forwarder/forwarder-handle.ts'
import { type ForwarderStart, statusBefore } from '../../forwarder/forwarder-status.ts'
import type { TableDescription } from '../../table.ts'
import type { SpoolMessage, SpoolStatus } from '../state/forward-status.ts'
import type { SpoolSourceData } from './spool-thread.ts'

export interface ForwardedTopic {
  topic: string
  table: TableDescription
  /** Folder of the spool. Its content is removed at each start. */
  directory: string
  /** Folder of damaged groups. */
  damagedDirectory: string
}

export interface TopicThreadOptions extends ForwardedTopic, Omit<SpoolSourceData, 'hold' | 'port'> {
  hold: Hold
  /** The present QuestDB. */
  questdb: QuestdbStart
  /** Id of the topic in QuestDB. */
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
    // Other processes read the topic too, and its status shows them the visible rows.
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

interface SpoolPort {
  /** Receives SpoolMessage. For the thread. */
  readonly port: MessagePort
  /** The newest status. Undefined before the first one. */
  status(): SpoolStatus | undefined
  /** True when QuestDB may still accept rows of the ended thread, which is assumed unless the thread has reported otherwise. */
  mayHaveSentLate(): boolean
  close(): void
}

/** Passes SpoolMessages from the thread of a spool to its owner, who reads them on demand. */
function openSpoolPort(): SpoolPort {
  const { port1, port2 } = new MessageChannel()
  let status: SpoolStatus | undefined
  let isLate = true

  function drain(): void {
    for (let received = receiveMessageOnPort(port1); received !== undefined; received = receiveMessageOnPort(port1)) {
      const message: SpoolMessage = received.message
      if (message.kind === 'status') status = message.status
      else isLate = message.mayHaveSentLate
    }
  }

  return {
    port: port2,
    status() {
      drain()
      return status
    },
    mayHaveSentLate() {
      drain()
      return isLate
    },
    close: () => port1.close(),
  }
}
