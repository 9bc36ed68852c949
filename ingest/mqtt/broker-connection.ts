/** One connection to an outside broker: subscribes to the readings in a session that the broker keeps. */

import { generate, type Packet } from 'mqtt-packet'
import type { Writer } from '../../auth/writers.ts'
import { type Decoders, familyDecoders } from '../decoders/own-decoders.ts'
import type { RecentMessages } from '../decoders/recent-messages.ts'
import type { Intake } from '../intake/intake.ts'
import type { ReadingMeter } from '../intake/reading-meter.ts'
import { senderOf } from '../intake/rejection-source.ts'
import { type BrokerAddress, connectPacket, openBrokerSocket, type SessionOptions } from './broker-socket.ts'
import type { ProtocolVersion } from './connect-packet.ts'
import { createDecodeMessage, createFindDecoder, rejectionIn, type Subscription } from './decoded-message.ts'
import { Deliveries, type DeliveriesOptions } from './deliveries.ts'
import { PacketChannel } from './packet-channel.ts'
import { FieldReader, PacketError } from './packet-fields.ts'
import { ByteAllowance, packetTypes, type RawPacket } from './packet-reader.ts'
import { type Publish, readPublish } from './packets.ts'
import { type DeliveryRules, limitsOf, mqtt311, publishBytesMax } from './protocol.ts'
import { refusals, rejectionOf, topicPrefix } from './reading-message.ts'

export interface BrokerConnectionOptions extends BrokerAddress {
  intake: Pick<Intake, 'take' | 'prepare'>
  meter: Pick<ReadingMeter, 'rejected' | 'leftOut'>
  writer: Writer
  /** Filters with their decoders, in place of `readings/+`. */
  subscriptions?: readonly Subscription[] | undefined
  decoders?: Decoders | undefined
  /** Keeps messages of sensors. */
  recent?: Pick<RecentMessages, 'add'> | undefined
  /** The broker has granted the subscription. */
  onSubscribed: () => void
  /** A message was acknowledged. */
  onAcknowledged: () => void
  /** Called once, with the reason. */
  onClosed: (reason: string) => void
}

export interface BrokerConnection {
  /** Finishes accepted messages, then disconnects from the broker. */
  stop(): void
  destroy(): void
}

const openMsMax = 10_000
const keepAliveSeconds = 30
/** Limit in flight, as far as the broker respects it: MQTT 5 only. */
const receiveMaximum = 100
const neverExpires = 0xffff_ffff
const session: SessionOptions = {
  clean: false,
  keepAliveSeconds,
  properties: { receiveMaximum, sessionExpiryInterval: neverExpires, maximumPacketSize: publishBytesMax },
}
/** MQTT 5: the broker sends retained messages only for a new subscription (1), and clears RETAIN in newly published ones. */
function subscriptionTo({ subscriptions: own }: Pick<BrokerConnectionOptions, 'subscriptions'>): Packet {
  const filters = own?.map(({ filter }) => filter) ?? [`${topicPrefix}+`]
  const subscriptions = filters.map(topic => ({ topic, qos: 1 as const, rh: 1, rap: false, nl: false }))
  return { cmd: 'subscribe', messageId: 1, subscriptions }
}

/** Codes of a SUBACK from here on are refusals. */
const refusedMin = 0x80

/** A permanently rejected message is acknowledged in both versions: the broker would only send it again. */
const rules: DeliveryRules = { ...mqtt311, closesOnTopic: () => false, takesRetained: false }
const limitOf = limitsOf('connack', 'publish', 'pubrel', 'suback', 'pingresp', 'disconnect')

export function openBrokerConnection(options: BrokerConnectionOptions): BrokerConnection {
  const { protocolVersion, intake } = options
  const socket = openBrokerSocket(options.url, () => send(connectPacket(options, session)))
  let isSubscribed = false
  let isStopping = false
  let reason: string | undefined

  const deliveries = new Deliveries({
    intake,
    ...readingOf(options),
    send(answer) {
      send(answer)
      options.onAcknowledged()
    },
    onSettled: settled,
    onRefused: () => end('a reading could not be stored'),
    onFailed: error => end(`failed: ${String(error)}`),
  })
  const channel = new PacketChannel<BrokerPacket>({
    socket,
    budget: new ByteAllowance(publishBytesMax),
    decode: raw => readBrokerPacket(raw, protocolVersion),
    limitOf,
    canTake: () => !isStopping && reason === undefined && deliveries.canTake(),
    onPacket: take,
    onMalformed: error => end(error.message),
    onFailed: error => end(`failed: ${String(error)}`),
  })

  const send = (packet: Packet) => channel.send(generate(packet, { protocolVersion }))
  function take(packet: BrokerPacket): void {
    if (packet.cmd === 'connack' && packet.code === 0) send(subscriptionTo(options))
    else if (packet.cmd === 'connack') end(`the broker refuses the connection with code ${packet.code}`)
    else if (packet.cmd === 'suback') subscribed(packet.code >= refusedMin)
    else if (packet.cmd === 'publish') deliveries.take(packet)
    else if (packet.cmd === 'pubrel') send(mqtt311.released(packet.messageId, deliveries.release(packet.messageId)))
    else if (packet.cmd === 'disconnect') end('the broker has closed the connection')
  }

  function subscribed(isRefused: boolean): void {
    isSubscribed = !isRefused
    if (isSubscribed) options.onSubscribed()
    else end('the broker refuses the subscription')
  }

  function settled(): void {
    if (isStopping && deliveries.size === 0) {
      send({ cmd: 'disconnect' })
      end('stopping')
    } else {
      channel.resume()
    }
  }

  function end(because: string): void {
    if (reason !== undefined) return
    reason = because
    deliveries.close()
    channel.end()
  }

  const opening = setTimeout(() => {
    if (!isSubscribed) end('no answer')
  }, openMsMax)
  const pings = setInterval(() => {
    const silentMs = performance.now() - channel.packetAtMs
    if (deliveries.canTake() && silentMs > 2 * keepAliveSeconds * 1000) end('no answer')
    else if (isSubscribed) send({ cmd: 'pingreq' })
  }, keepAliveSeconds * 1000)
  socket.on('error', error => end(error.message))
  socket.once('close', () => {
    clearTimeout(opening)
    clearInterval(pings)
    end('the broker has closed the connection')
    options.onClosed(reason ?? '')
  })
  return {
    stop() {
      isStopping = true
      settled()
    },
    destroy: () => socket.destroy(),
  }
}

/** Messages are read as from a writer whose credential does not end. */
function readingOf({
  writer,
  subscriptions,
  decoders = familyDecoders,
  recent,
  meter,
}: BrokerConnectionOptions): Pick<
  DeliveriesOptions,
  'writer' | 'refresh' | 'rules' | 'decode' | 'onRejected' | 'onLeftOut'
> {
  const find = createFindDecoder(subscriptions ?? [], decoders)
  const decode = createDecodeMessage(find, recent)
  // A session that the broker keeps may still have filters of earlier settings.
  const refusal = { ...refusals.topic, text: 'the topic has no decoder' }
  return {
    writer: () => writer,
    refresh: async () => undefined,
    rules,
    decode: subscriptions && (publish => decode(publish) ?? { refusal }),
    onRejected: (refusal, ...of) => meter.rejected(refusal.reason, rejectionIn(find, writer, refusal, ...of)),
    onLeftOut: ({ part, reason }, ...of) => meter.leftOut({ ...rejectionOf(senderOf(writer), reason, ...of), part }),
  }
}

/*
 * The packets of an outside broker. Parts specific to MQTT 5 are skipped and not checked: a message that ended the connection
 * would return forever.
 */

type BrokerPacket =
  | Publish
  /** `code`: 0 for success. In a SUBACK the granted QoS; from 0x80 on a refusal. */
  | { cmd: 'connack' | 'suback'; code: number }
  | { cmd: 'pubrel'; messageId: number }
  | { cmd: 'pingresp' | 'disconnect' }

/** Throws a `PacketError`. */
function readBrokerPacket(raw: RawPacket, version: ProtocolVersion): BrokerPacket {
  const fields = new FieldReader(raw.bytes, raw.start)
  switch ((raw.bytes[0] ?? 0) >> 4) {
    case packetTypes.publish:
      return readMessage(raw, version)
    case packetTypes.pubrel:
      return { cmd: 'pubrel', messageId: fields.packetId() }
    case packetTypes.connack:
      fields.byte()
      return { cmd: 'connack', code: fields.byte() }
    case packetTypes.suback:
      fields.packetId()
      if (version === 5) skipProperties(fields)
      // A refusal of one filter refuses the subscription.
      return { cmd: 'suback', code: Math.max(fields.byte(), ...fields.rest()) }
    case packetTypes.pingresp:
      return { cmd: 'pingresp' }
    case packetTypes.disconnect:
      return { cmd: 'disconnect' }
    default:
      throw new PacketError('protocol_error', 'unexpected packet type')
  }
}

export function readMessage(raw: RawPacket, version: ProtocolVersion): Publish {
  const publish = readPublish(raw, 4)
  if (version === 4 || publish.payload === 'too large') return publish
  const fields = new FieldReader(publish.payload, 0)
  skipProperties(fields)
  return { ...publish, payload: fields.rest() }
}

function skipProperties(fields: FieldReader): void {
  fields.part(fields.variable())
}
