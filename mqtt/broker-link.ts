/** Keeps a connection to an outside broker, and makes it anew whenever it ends. */

import type { Log } from '../store/log.ts'
import { type BrokerConnection, type BrokerConnectionOptions, openBrokerConnection } from './broker-connection.ts'

export interface BrokerLinkOptions
  extends Omit<BrokerConnectionOptions, 'onSubscribed' | 'onAcknowledged' | 'onClosed'> {
  log: Log
}

export interface BrokerLink {
  /** Why no readings come from the broker; undefined while they do. */
  fault(): string | undefined
  /** Finishes what was taken. */
  close(): Promise<void>
}

const retryMsMin = 500
const retryMsMax = 30_000
const finishMsMax = 2000

export function openBrokerLink(options: BrokerLinkOptions): BrokerLink {
  const { log } = options
  let connection: BrokerConnection | undefined
  let timer: NodeJS.Timeout | undefined
  let fault: string | undefined = 'not connected yet'
  let isKnown = false
  let retryMs = retryMsMin
  let onEnded: (() => void) | undefined

  function open(): void {
    connection = openBrokerConnection({
      ...options,
      onSubscribed() {
        fault = undefined
        isKnown = false
        log.info({}, 'connected to the MQTT broker')
      },
      // Not before: with a full journal each connection would begin well.
      onAcknowledged() {
        retryMs = retryMsMin
      },
      onClosed: closed,
    })
  }

  function closed(reason: string): void {
    connection = undefined
    fault = reason
    if (onEnded !== undefined) {
      onEnded()
      return
    }
    if (!isKnown) log.warn({ reason }, 'no connection to the MQTT broker, retrying')
    isKnown = true
    // Half of it by chance, so that many services do not come back at the same moment.
    timer = setTimeout(open, retryMs * (0.5 + Math.random() / 2))
    retryMs = Math.min(retryMs * 2, retryMsMax)
  }

  async function close(): Promise<void> {
    clearTimeout(timer)
    const open = connection
    if (open === undefined) return
    const ended = new Promise<void>(resolve => {
      onEnded = resolve
    })
    const cut = setTimeout(() => open.destroy(), finishMsMax)
    open.stop()
    await ended
    clearTimeout(cut)
  }

  open()
  let closing: Promise<void> | undefined
  return {
    fault: () => fault,
    close() {
      closing ??= close()
      return closing
    },
  }
}
