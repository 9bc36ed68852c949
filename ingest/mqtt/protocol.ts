/**
 * The differences between the protocol versions, through one interface for sessions; the size limits of packets; and
 * MQTT 3.1.1.
 */

import { generate, type Packet } from 'mqtt-packet'
import type { Acknowledgement } from './acknowledgements.ts'
import type { Connect, ProtocolVersion } from './connect-packet.ts'
import { PacketError } from './packet-fields.ts'
import { type LimitOf, type PacketLimit, packetTypes } from './packet-reader.ts'
import type { Publish, PublishHead, Subscribe, Unsubscribe } from './packets.ts'
import { type MessageRefusal, payloadBytesMax } from './reading-message.ts'
import type { CloseReason, ReasonCode } from './reason-codes.ts'
import { isTopicFilter } from './topics.ts'

/** Applies to a client without a keep-alive. */
export const keepAliveSecondsWithout = 2400

/** Rules for accepting and answering messages. */
export interface DeliveryRules {
  /** Limit of messages without an outcome, or behind one. Reading stops beyond it. */
  inFlightMax: number
  /** Limit of unacknowledged messages of QoS 1 and QoS 2. The connection ends beyond it. */
  receiveMaximum: number
  /** The reading is stored if there is no refusal. */
  acknowledgement(publish: PublishHead, refusal: MessageRefusal | undefined): Acknowledgement | undefined
  /** True when a message to a topic outside the client's ends the connection. */
  closesOnTopic(publish: PublishHead): boolean
  /**
   * True when RETAIN is unrelated to the time of publication. Otherwise it marks a stored message that the broker sends for the
   * subscription: then only readings with a time are accepted.
   */
  takesRetained: boolean
}

export interface Protocol extends DeliveryRules {
  version: ProtocolVersion
  /** The limits apply to an authenticated client. */
  limitOf: LimitOf
  /** Reason why a CONNECT is refused for any client. */
  refusalOf(connect: Connect): CloseReason | undefined
  /** Undefined for a packet that the client cannot accept. */
  encode(packet: Packet): Buffer | undefined
  connected(connect: Connect, clientId: string): Packet
  /** The last packet of a connection that we close; `isOpen`: after a successful CONNACK. */
  ending(code: ReasonCode, text: string | undefined, isOpen: boolean): Packet | undefined
  /** The message with its topic. Throws a `PacketError`. */
  resolve(publish: Publish): Publish
  /** The answer to PUBREL. */
  released(messageId: number, isKnown: boolean): Packet
  /** MQTT 5 always rejects subscriptions. Throws a `PacketError`. */
  subscribed(packet: Subscribe, isGranted: boolean): Packet
  unsubscribed(packet: Unsubscribe): Packet
  close(): void
}

/** The longest valid topic is shorter than the room above the payload. */
export const publishBytesMax = payloadBytesMax + 1024
const otherLimit: PacketLimit = { bytesMax: 8 * 1024, beyond: 'refuse' }

/** Packets of other types are not read at all. A larger message is truncated, so that it can be acknowledged. */
export function limitsOf(...names: (keyof typeof packetTypes)[]): LimitOf {
  const publishLimit: PacketLimit = { bytesMax: publishBytesMax, beyond: 'truncate' }
  return limitBy(names, name => (name === 'publish' ? publishLimit : otherLimit))
}

/** One limit for all types, as MQTT 5 announces it to its clients. */
export function limitsAlike(bytesMax: number, ...names: (keyof typeof packetTypes)[]): LimitOf {
  const limit: PacketLimit = { bytesMax, beyond: 'refuse' }
  return limitBy(names, () => limit)
}

function limitBy(
  names: readonly (keyof typeof packetTypes)[],
  limitOf: (name: keyof typeof packetTypes) => PacketLimit,
): LimitOf {
  const limits = new Map(names.map(name => [packetTypes[name] as number, limitOf(name)]))
  return type => limits.get(type)
}

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

/**
 * MQTT 3.1.1. It has no error for a message, so a permanently rejected one is acknowledged. The only reason it can send for a
 * closed connection is the return code of CONNACK.
 */
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
