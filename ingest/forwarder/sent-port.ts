/** Carries SentEvents from the forwarder's thread to main, which has them before a query can see the rows. */

import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { type SentEvent, SentWatermark } from './sent-watermark.ts'

export interface SentPort {
  /** Takes SentEvent. For the forwarder's thread. */
  readonly port: MessagePort
  /** Called when QuestDB may have lost what it had applied. */
  readonly lostListeners: ((reason: string) => void)[]
  /** Applies the queued events, so that the queue stays short. */
  drain(): void
  oldestSince(txn: number): number
  close(): void
}

export function openSentPort(): SentPort {
  const { port1, port2 } = new MessageChannel()
  const watermark = new SentWatermark()

  /** Synchronously: a message event would come only when main is idle. */
  function drain(): void {
    for (let received = receiveMessageOnPort(port1); received !== undefined; received = receiveMessageOnPort(port1)) {
      const event: SentEvent = received.message
      watermark.apply(event)
      if (event.kind !== 'lost') continue
      for (const listener of sentPort.lostListeners) listener(event.reason)
    }
  }

  const sentPort: SentPort = {
    port: port2,
    lostListeners: [],
    drain,
    oldestSince(txn) {
      drain()
      return watermark.oldestSince(txn)
    },
    close: () => port1.close(),
  }
  return sentPort
}
