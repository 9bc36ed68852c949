/** Where the forwarder's thread tells what it sends, so that main knows it before a row of it can be asked for. */

import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { type SentNews, SentTimes } from './sent-times.ts'

export interface SentPort {
  /** Takes SentNews. For the forwarder's thread. */
  readonly port: MessagePort
  /** Told when QuestDB may have lost what it had applied. */
  readonly lostListeners: ((reason: string) => void)[]
  /** Takes what was told so far, so that it does not pile up. */
  learn(): void
  oldestSince(txn: number): number
  close(): void
}

export function openSentPort(): SentPort {
  const { port1, port2 } = new MessageChannel()
  const times = new SentTimes()

  /** Not by an event, which would come only when main has nothing else to do. */
  function learn(): void {
    for (let told = receiveMessageOnPort(port1); told !== undefined; told = receiveMessageOnPort(port1)) {
      const news: SentNews = told.message
      times.learn(news)
      if (news.kind !== 'lost') continue
      for (const tell of sentPort.lostListeners) tell(news.reason)
    }
  }

  const sentPort: SentPort = {
    port: port2,
    lostListeners: [],
    learn,
    oldestSince(txn) {
      learn()
      return times.oldestSince(txn)
    },
    close: () => port1.close(),
  }
  return sentPort
}
