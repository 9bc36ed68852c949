/**
 * MQTT 3.1.1. It has no error for a message, so a permanently rejected one is acknowledged. The only reason it can send for a
 * closed connection is the return code of CONNACK.
 */

import { generate } from 'mqtt-packet'
import { PacketError } from './packet-error.ts'
import { limitsOf } from './packet-limits.ts'
import type { Protocol } from './protocol.ts'
import type { ReasonCode } from './reason-codes.ts'
import { isTopicFilter } from './topics.ts'

/** Others close the connection without a CONNACK (3.2.2-6). */
const returnCodes: Partial<Record<ReasonCode, number>> = {
  unsupportedProtocolVersion: 1,
  clientIdentifierNotValid: 2,
  badUserNameOrPassword: 4,
  notAuthorized: 5,
  serverUnavailable: 3,
  serverShuttingDown: 3,
  connectionRateExceeded: 3,
}
const subscriptionRefused = 0x80
const version = 4

export const mqtt311: Protocol = {
  version,
  inFlightMax: 100,
  receiveMaximum: Number.POSITIVE_INFINITY,
  limitOf: limitsOf('publish', 'pubrel', 'subscribe', 'unsubscribe', 'pingreq', 'disconnect'),
  refusalOf: ({ clientId, cleanStart }) => (clientId === '' && !cleanStart ? 'client_identifier' : undefined),
  encode: packet => generate(packet, { protocolVersion: version }),
  connected: () => ({ cmd: 'connack', returnCode: 0, sessionPresent: false }),
  ending(code, _text, isOpen) {
    const returnCode = returnCodes[code]
    return isOpen || returnCode === undefined ? undefined : { cmd: 'connack', returnCode, sessionPresent: false }
  },
  acknowledgement({ qos, messageId }) {
    if (qos === 0) return undefined
    return { cmd: qos === 1 ? 'puback' : 'pubrec', messageId }
  },
  closesOnTopic: () => true,
  takesRetained: true,
  resolve: publish => publish,
  released: messageId => ({ cmd: 'pubcomp', messageId }),
  subscribed({ messageId, filters }, isGranted) {
    checkFilters(filters)
    return { cmd: 'suback', messageId, granted: filters.map(() => (isGranted ? 0 : subscriptionRefused)) }
  },
  unsubscribed({ messageId, filters }) {
    checkFilters(filters)
    return { cmd: 'unsuback', messageId, granted: [] }
  },
  close: () => undefined,
}

function checkFilters(filters: readonly string[]): void {
  if (!filters.every(isTopicFilter)) throw new PacketError('malformed', 'invalid topic filter')
}
