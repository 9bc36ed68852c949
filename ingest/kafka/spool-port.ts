/** Carries SpoolMessages from the thread of a spool to its owner, who takes them when they are of use. */

import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { SpoolMessage, SpoolStatus } from './spool-status.ts'

export interface SpoolPort {
  /** Takes SpoolMessage. For the thread. */
  readonly port: MessagePort
  /** The newest; undefined before the first one. */
  status(): SpoolStatus | undefined
  /** Whether QuestDB may yet take rows of the thread, which has ended; unless it has told otherwise, it may. */
  mayHaveSentLate(): boolean
  close(): void
}

export function openSpoolPort(): SpoolPort {
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
