/** MQTT 5: the client gets its limits, the outcome of each message, and the reason for the end of its connection. */

import { generate, type Packet } from 'mqtt-packet'
import { PacketError } from './packet-fields.ts'
import type { Properties } from './packet-properties.ts'
import type { ByteAllowance } from './packet-reader.ts'
import type { Publish, Subscribe } from './packets.ts'
import { keepAliveSecondsWithout, limitsAlike, type Protocol, publishBytesMax } from './protocol.ts'
import { type ReasonCode, reasonCodes } from './reason-codes.ts'
import { hasWildcard, isShared, isTopicFilter } from './topics.ts'

/** Clients that exceed it are disconnected, so there is room for a gateway's burst. */
const receiveMaximum = 1000
const topicAliasMaximum = 100
const version = 5

const limitOf = limitsAlike(
  publishBytesMax,
  'publish',
  'pubrel',
  'subscribe',
  'unsubscribe',
  'pingreq',
  'disconnect',
  'auth',
)
const available = {
  retainAvailable: false,
  wildcardSubscriptionAvailable: false,
  subscriptionIdentifiersAvailable: false,
  sharedSubscriptionAvailable: false,
}
const limits = { sessionExpiryInterval: 0, receiveMaximum, maximumPacketSize: publishBytesMax, topicAliasMaximum }

/** CONNACK does not have every code of DISCONNECT, nor the other way round. */
const inConnack: Partial<Record<ReasonCode, ReasonCode>> = { serverShuttingDown: 'serverUnavailable' }
const inDisconnect: Partial<Record<ReasonCode, ReasonCode>> = { serverUnavailable: 'serverBusy' }

/** Uses the properties of the CONNECT. */
export function createMqtt5(properties: Properties, aliasBudget: ByteAllowance): Protocol {
  const sendsReasons = properties.requestProblemInformation !== 0
  const bytesMax = properties.maximumPacketSize ?? Number.POSITIVE_INFINITY
  const aliases = new TopicAliases(topicAliasMaximum, aliasBudget)
  const reasonOf = (text: string | undefined) => {
    return sendsReasons && text !== undefined ? { properties: { reasonString: text } } : {}
  }
  return {
    // One more message is accepted, so that it can be rejected as excess.
    version,
    receiveMaximum,
    inFlightMax: receiveMaximum + 1,
    limitOf,
    refusalOf(connect) {
      if (connect.properties.authenticationMethod !== undefined) return 'authentication_method'
      return connect.hasRetainedWill ? 'retain' : undefined
    },
    encode: packet => encodeWithin(packet, bytesMax),
    connected({ clientId, keepAliveSeconds }, name) {
      const assigned = clientId === '' ? { assignedClientIdentifier: name } : {}
      const serverKeepAlive = keepAliveSeconds === 0 ? { serverKeepAlive: keepAliveSecondsWithout } : {}
      const properties = { ...limits, ...available, ...assigned, ...serverKeepAlive }
      return { cmd: 'connack', reasonCode: reasonCodes.success, sessionPresent: false, properties }
    },
    ending(code, text, isOpen) {
      const valid = (isOpen ? inDisconnect : inConnack)[code] ?? code
      const common = { reasonCode: reasonCodes[valid], ...reasonOf(text) }
      return isOpen ? { cmd: 'disconnect', ...common } : { cmd: 'connack', sessionPresent: false, ...common }
    },
    acknowledgement({ qos, messageId }, refusal) {
      if (qos === 0) return undefined
      const cmd = qos === 1 ? 'puback' : 'pubrec'
      if (refusal === undefined) return { cmd, messageId, reasonCode: reasonCodes.success }
      return { cmd, messageId, reasonCode: reasonCodes[refusal.code], ...reasonOf(refusal.text) }
    },
    // A closed connection is the only way to report it at QoS 0.
    closesOnTopic: ({ qos }) => qos === 0,
    takesRetained: true,
    resolve(publish) {
      if (publish.retain) throw new PacketError('retain', 'messages are not retained')
      if (publish.properties.topicAlias === undefined) return publish
      return { ...publish, topic: aliases.topicOf(publish) }
    },
    released(messageId, isKnown) {
      const reasonCode = isKnown ? reasonCodes.success : reasonCodes.packetIdentifierNotFound
      return { cmd: 'pubcomp', messageId, reasonCode }
    },
    subscribed(packet) {
      checkSubscription(packet)
      const granted = packet.filters.map(filter => {
        return isTopicFilter(filter) ? reasonCodes.notAuthorized : reasonCodes.topicFilterInvalid
      })
      return { cmd: 'suback', messageId: packet.messageId, granted }
    },
    unsubscribed({ messageId, filters }) {
      const granted = filters.map(filter => {
        return isTopicFilter(filter) ? reasonCodes.noSubscriptionExisted : reasonCodes.topicFilterInvalid
      })
      return { cmd: 'unsuback', messageId, granted }
    },
    close: () => aliases.close(),
  }
}

/** CONNACK has announced that these features are not available. */
function checkSubscription({ filters, properties }: Subscribe): void {
  if (properties.subscriptionIdentifier !== undefined) {
    throw new PacketError('subscription_identifier', 'subscription identifiers are not supported')
  }
  for (const filter of filters) {
    if (isShared(filter)) throw new PacketError('shared_subscription', 'shared subscriptions are not supported')
    if (isTopicFilter(filter) && hasWildcard(filter)) {
      throw new PacketError('wildcard_subscription', 'wildcard subscriptions are not supported')
    }
  }
}

/** A packet that is too large for the client is sent without its reason, or not at all. */
function encodeWithin(packet: Packet, bytesMax: number): Buffer | undefined {
  const bytes = generate(packet, { protocolVersion: version })
  if (bytes.length <= bytesMax) return bytes
  if (!('properties' in packet) || !('reasonString' in (packet.properties ?? {}))) return undefined
  const { properties: _reason, ...bare } = packet
  return encodeWithin(bare as Packet, bytesMax)
}

/** A topic with this many characters is too long for a device, even after it was cut. */
const topicLengthMax = 1024

/** The topic aliases of one connection (MQTT 5, 3.3.2.3.4). */
export class TopicAliases {
  readonly #aliasMax: number
  readonly #budget: ByteAllowance
  readonly #topics = new Map<number, string>()
  #bytesHeld = 0

  constructor(aliasMax: number, budget: ByteAllowance) {
    this.#aliasMax = aliasMax
    this.#budget = budget
  }

  /** The topic of a message. Throws a `PacketError`. */
  topicOf({ topic, properties: { topicAlias: alias } }: Publish): string {
    if (alias === undefined) return topic
    if (alias === 0 || alias > this.#aliasMax) throw new PacketError('topic_alias', 'the topic alias is out of range')
    const known = this.#topics.get(alias)
    if (topic === '') {
      if (known === undefined) throw new PacketError('protocol_error', 'the topic alias has no topic')
      return known
    }
    if (topic !== known) this.#set(alias, cut(topic), known)
    return topic
  }

  close(): void {
    this.#budget.give(this.#bytesHeld)
    this.#bytesHeld = 0
    this.#topics.clear()
  }

  #set(alias: number, topic: string, known = ''): void {
    const more = (topic.length - known.length) * 2
    if (!this.#budget.take(more)) throw new PacketError('quota', 'too many topic aliases')
    this.#bytesHeld += more
    this.#topics.set(alias, topic)
  }
}

/** A copy, since a slice of a string keeps all of it in memory. */
function cut(topic: string): string {
  return topic.length <= topicLengthMax ? topic : Buffer.from(topic.slice(0, topicLengthMax)).toString()
}
