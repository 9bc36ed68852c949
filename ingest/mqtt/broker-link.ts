/**
 * Keeps a connection to an outside broker, and reconnects whenever it ends. Of several nodes, which share one session at the
 * broker, the leader connects: the broker sends unacknowledged messages of the previous node to the next one.
 */

import type { Log } from '../../store/log.ts'
import { type BrokerConnection, type BrokerConnectionOptions, openBrokerConnection } from './broker-connection.ts'

export interface BrokerLinkOptions
  extends Omit<BrokerConnectionOptions, 'onSubscribed' | 'onAcknowledged' | 'onClosed'> {
  /** True on the connecting node. */
  leads?: () => boolean
  log: Log
}

export interface BrokerLink {
  /**
   * Reason why no readings arrive from the broker. Undefined while they do, and where another node has the connection.
   */
  fault(): string | undefined
  isConnected(): boolean
  /** Finishes accepted messages. */
  close(): Promise<void>
}

const retryMsMin = 500
const retryMsMax = 30_000
const finishMsMax = 2000
const leadEveryMs = 500

export function openBrokerLink(options: BrokerLinkOptions): BrokerLink {
  const { leads = () => true, log } = options
  let connection: BrokerConnection | undefined
  let timer: NodeJS.Timeout | undefined
  /** Timer that closes an abandoned connection. */
  let cut: NodeJS.Timeout | undefined
  let fault: string | undefined = 'not connected yet'
  let isKnown = false
  let retryMs = retryMsMin
  let onEnded: (() => void) | undefined

  function open(): void {
    if (!leads()) {
      timer = setTimeout(open, leadEveryMs)
      return
    }
    connection = openBrokerConnection({
      ...options,
      onSubscribed() {
        fault = undefined
        isKnown = false
        log.info({}, 'connected to the MQTT broker')
      },
      // The pause is reset only here: with a full journal each connection would begin well.
      onAcknowledged() {
        retryMs = retryMsMin
      },
      onClosed: closed,
    })
  }

  function closed(reason: string): void {
    connection = undefined
    clearTimeout(cut)
    cut = undefined
    fault = reason
    if (onEnded !== undefined) {
      onEnded()
      return
    }
    if (!leads()) {
      retryMs = retryMsMin
      isKnown = true
    }
    if (!isKnown) log.warn({ reason }, 'no connection to the MQTT broker, retrying')
    isKnown = true
    // Half of it is random, so that many services do not reconnect at the same moment.
    timer = setTimeout(open, retryMs * (0.5 + Math.random() / 2))
    retryMs = Math.min(retryMs * 2, retryMsMax)
  }

  /** Finishes accepted messages. */
  function leave(left: BrokerConnection): void {
    clearTimeout(cut)
    cut = setTimeout(() => left.destroy(), finishMsMax)
    left.stop()
  }

  async function close(): Promise<void> {
    clearInterval(looking)
    clearTimeout(timer)
    if (connection === undefined) return
    const ended = new Promise<void>(resolve => {
      onEnded = resolve
    })
    leave(connection)
    await ended
  }

  const looking = setInterval(() => {
    if (leads() || connection === undefined || cut !== undefined) return
    log.info({}, 'another node connects to the MQTT broker')
    leave(connection)
  }, leadEveryMs)
  open()
  let closing: Promise<void> | undefined
  return {
    fault: () => (leads() ? fault : undefined),
    isConnected: () => fault === undefined,
    close() {
      closing ??= close()
      return closing
    },
  }
}
