/** Publishes at the outside broker, with a new connection each time. */

import { randomBytes } from 'node:crypto'
import { openBrokerSession, type PublishedMessage } from './broker-session.ts'
import type { BrokerAddress } from './broker-socket.ts'

/** Rejects on an abort, or with an error that has a code. Some messages may then be delivered, and delivered again by a retry. */
export type PublishAtBroker = (messages: readonly PublishedMessage[], signal: AbortSignal) => Promise<void>

export function createBrokerPublisher(address: BrokerAddress): PublishAtBroker {
  return async (messages, signal) => {
    // Several may publish at a time, beside the subscribing connection.
    const clientId = `${address.clientId}-${randomBytes(4).toString('hex')}`
    const session = await openBrokerSession({ ...address, clientId }, signal)
    await session.publish(messages)
    session.close()
  }
}
