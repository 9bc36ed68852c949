/**
 * The packets of clients, except CONNECT. mqtt-packet reads them too, but leaves most checks of the standards to its users:
 * invalid UTF-8, bytes after the last field, and properties that are too long or duplicate. To check that, every field has to be
 * read.
 */

import type { Connect, ProtocolVersion } from './connect-packet.ts'
import { FieldReader, PacketError } from './packet-fields.ts'
import { allow, noProperties, type Properties, type PropertyRules, readProperties } from './packet-properties.ts'
import { checkLength, packetTypes, type RawPacket } from './packet-reader.ts'
import { hasWildcard, isShared } from './topics.ts'

/** A received message. If too large, it lacks the payload and the fields between it and the identifier. */
export interface Publish {
  cmd: 'publish'
  topic: string
  payload: Buffer | 'too large'
  qos: 0 | 1 | 2
  /** 0 at QoS 0. */
  messageId: number
  retain: boolean
  properties: Properties
}

/** The part of a message that its answer needs. */
export type PublishHead = Pick<Publish, 'topic' | 'qos' | 'messageId'>

export interface Subscribe {
  cmd: 'subscribe'
  messageId: number
  filters: string[]
  properties: Properties
}

export interface Unsubscribe {
  cmd: 'unsubscribe'
  messageId: number
  filters: string[]
}

export type Received =
  | Connect
  | Publish
  | Subscribe
  | Unsubscribe
  | { cmd: 'pubrel'; messageId: number }
  | { cmd: 'pingreq' }
  | { cmd: 'disconnect'; properties: Properties }
  | { cmd: 'auth' }

type Read = (fields: FieldReader, version: ProtocolVersion) => Received

const filtersMax = 100

const publishProperties = allow(
  'payloadFormatIndicator',
  'messageExpiryInterval',
  'topicAlias',
  'responseTopic',
  'correlationData',
  'contentType',
  'subscriptionIdentifier',
)
const reasonProperties = allow('reasonString')
const subscribeProperties = allow('subscriptionIdentifier')
const unsubscribeProperties = allow()
const disconnectProperties = allow('sessionExpiryInterval', 'reasonString')
const authProperties = allow('authenticationMethod', 'authenticationData', 'reasonString')

/** Keys are types. `flags` is the lower half of the first byte. */
const readers = new Map<number, { flags: number; read: Read }>([
  [packetTypes.pubrel, { flags: 2, read: readPubrel }],
  [packetTypes.subscribe, { flags: 2, read: readSubscribe }],
  [packetTypes.unsubscribe, { flags: 2, read: readUnsubscribe }],
  [packetTypes.pingreq, { flags: 0, read: () => ({ cmd: 'pingreq' }) }],
  [packetTypes.disconnect, { flags: 0, read: readDisconnect }],
  [packetTypes.auth, { flags: 0, read: readAuth }],
])

/** Throws a `PacketError`. */
export function readPacket(raw: RawPacket, version: ProtocolVersion): Received {
  const first = raw.bytes[0] ?? 0
  if (version === 5) checkLength(raw)
  if (first >> 4 === packetTypes.publish) return readPublish(raw, version)
  const reader = readers.get(first >> 4)
  // Includes a second CONNECT.
  if (reader === undefined) throw new PacketError('protocol_error', 'unexpected packet type')
  if ((first & 0x0f) !== reader.flags) throw new PacketError('malformed', 'invalid flags of the fixed header')
  const fields = new FieldReader(raw.bytes, raw.start)
  const packet = reader.read(fields, version)
  fields.end()
  return packet
}

/** Its beginning is the same in all versions. */
export function readPublish({ bytes, start, isWhole }: RawPacket, version: ProtocolVersion): Publish {
  const first = bytes[0] ?? 0
  const qos = (first >> 1) & 3
  if (qos === 3) throw new PacketError('malformed', 'QoS 3')
  if (qos === 0 && (first & 8) !== 0) throw new PacketError('malformed', 'DUP at QoS 0')
  const fields = new FieldReader(bytes, start)
  const topic = fields.text()
  if (hasWildcard(topic)) throw new PacketError('topic', 'the topic name has a wildcard')
  const messageId = qos === 0 ? 0 : fields.packetId()
  const properties = version === 5 && isWhole ? readProperties(fields, publishProperties) : noProperties
  if (properties.subscriptionIdentifier !== undefined) {
    throw new PacketError('protocol_error', 'a subscription identifier from a client')
  }
  if (topic === '' && properties.topicAlias === undefined) throw new PacketError('protocol_error', 'no topic name')
  const payload = isWhole ? fields.rest() : 'too large'
  return {
    cmd: 'publish',
    topic,
    payload,
    qos: qos as Publish['qos'],
    messageId,
    retain: (first & 1) !== 0,
    properties,
  }
}

function readPubrel(fields: FieldReader, version: ProtocolVersion): Received {
  const messageId = fields.packetId()
  if (version === 5) skipReason(fields)
  return { cmd: 'pubrel', messageId }
}

function readSubscribe(fields: FieldReader, version: ProtocolVersion): Received {
  const messageId = fields.packetId()
  const properties = version === 5 ? readProperties(fields, subscribeProperties) : noProperties
  const filters = readFilters(fields, filter => checkOptions(fields.byte(), filter, version))
  return { cmd: 'subscribe', messageId, filters, properties }
}

function readUnsubscribe(fields: FieldReader, version: ProtocolVersion): Received {
  const messageId = fields.packetId()
  if (version === 5) readProperties(fields, unsubscribeProperties)
  return { cmd: 'unsubscribe', messageId, filters: readFilters(fields) }
}

function readFilters(fields: FieldReader, readOptions?: (filter: string) => void): string[] {
  const filters: string[] = []
  if (!fields.hasMore) throw new PacketError('protocol_error', 'no topic filter')
  while (fields.hasMore) {
    if (filters.length === filtersMax) throw new PacketError('quota', 'too many topic filters')
    const filter = fields.text()
    readOptions?.(filter)
    filters.push(filter)
  }
  return filters
}

function checkOptions(options: number, filter: string, version: ProtocolVersion): void {
  const reserved = version === 5 ? 0xc0 : 0xfc
  if ((options & reserved) !== 0) throw new PacketError('malformed', 'reserved bits of the subscription')
  if ((options & 3) === 3) throw new PacketError('protocol_error', 'QoS 3')
  if ((options & 0x30) === 0x30) throw new PacketError('protocol_error', 'invalid retain handling')
  if ((options & 4) !== 0 && isShared(filter))
    throw new PacketError('protocol_error', 'No Local of a shared subscription')
}

function readDisconnect(fields: FieldReader, version: ProtocolVersion): Received {
  return { cmd: 'disconnect', properties: version === 5 ? skipReason(fields, disconnectProperties) : noProperties }
}

function readAuth(fields: FieldReader): Received {
  skipReason(fields, authProperties)
  return { cmd: 'auth' }
}

/** A reason code and properties, both optional. */
function skipReason(fields: FieldReader, rules: PropertyRules = reasonProperties): Properties {
  if (fields.hasMore) fields.byte()
  return fields.hasMore ? readProperties(fields, rules) : noProperties
}
