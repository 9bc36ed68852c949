/** A connection to an outside broker that publishes: messages acknowledged by the broker (QoS 1) are delivered. */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { generate, type Packet } from 'mqtt-packet'
import { readMessage } from './broker-connection.ts'
import { type BrokerAddress, connectPacket, openBrokerSocket } from './broker-socket.ts'
import { FieldReader, PacketError } from './packet-fields.ts'
import { ByteAllowance, PacketReader, packetTypes, type RawPacket } from './packet-reader.ts'
import { limitsOf, publishBytesMax } from './protocol.ts'

export interface PublishedMessage {
  topic: string
  payload: string
  retain: boolean
}

interface BrokerSessionOptions extends BrokerAddress {
  /** Retained message that the broker publishes when the connection breaks. */
  will?: Pick<PublishedMessage, 'topic' | 'payload'> | undefined
  /** Retained messages of these topics go to `onRetained` after the start. */
  retainedOf?: string | undefined
  onRetained?: ((topic: string, payload: string) => void) | undefined
  /** Called once, after the session has opened. */
  onEnded?: ((error: Error) => void) | undefined
}

export interface BrokerSession {
  /** One call at a time. Rejects when the session ends; some messages may then be delivered. */
  publish(messages: readonly PublishedMessage[]): Promise<void>
  /** Disconnects. The broker does not publish the will. */
  close(): void
}

const keepAliveSeconds = 30
/** Limit of sent but unacknowledged messages. */
const inFlightMax = 50
/** Reason codes of MQTT 5 from here on are refusals. */
const refusedMin = 0x80
const limitOf = limitsOf('connack', 'puback', 'suback', 'publish', 'pingresp', 'disconnect')
/** Identifiers of published messages are lower. */
const subscriptionId = 0xffff

interface Batch {
  readonly messages: readonly PublishedMessage[]
  sent: number
  acknowledged: number
  resolve(): void
  reject(error: unknown): void
}

/** Rejects on an abort, or with an error that has a code. */
export function openBrokerSession(options: BrokerSessionOptions, signal: AbortSignal): Promise<BrokerSession> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const session = new Session(options, { resolve, reject })
    const aborted = () => session.end(signal.reason)
    signal.addEventListener('abort', aborted, { once: true })
    session.onceEnded = () => signal.removeEventListener('abort', aborted)
  })
}

interface Opening {
  resolve(session: BrokerSession): void
  reject(error: Error): void
}

class Session implements BrokerSession {
  onceEnded: () => void = () => undefined
  readonly #options: BrokerSessionOptions
  readonly #opening: Opening
  readonly #socket: Socket
  readonly #reader = new PacketReader(limitOf, new ByteAllowance(publishBytesMax))
  readonly #pings: NodeJS.Timeout
  #batch: Batch | undefined
  #isOpen = false
  #ended: Error | undefined
  #packetAtMs = performance.now()

  constructor(options: BrokerSessionOptions, opening: Opening) {
    this.#options = options
    this.#opening = opening
    this.#socket = openBrokerSocket(options.url, () => this.#connect())
    this.#pings = setInterval(() => this.#ping(), keepAliveSeconds * 1000)
    this.#socket.on('data', chunk => {
      try {
        this.#take(chunk as Buffer)
      } catch (error) {
        this.end(error)
      }
    })
    this.#socket.on('error', error => this.end(error))
    this.#socket.once('close', () => this.end(refusal('the broker has closed the connection')))
  }

  publish(messages: readonly PublishedMessage[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) reject(this.#ended)
      else {
        this.#batch = { messages, sent: 0, acknowledged: 0, resolve, reject }
        this.#sendMore()
      }
    })
  }

  close(): void {
    if (this.#ended !== undefined) return
    this.#send({ cmd: 'disconnect' })
    this.#socket.end()
    this.#finish(refusal('the session is closed'))
  }

  end(error: unknown): void {
    if (this.#ended !== undefined) return
    const fault = error instanceof Error ? error : new Error(String(error))
    this.#socket.destroy()
    this.#finish(fault)
    if (this.#isOpen) this.#options.onEnded?.(fault)
  }

  #finish(error: Error): void {
    this.#ended = error
    clearInterval(this.#pings)
    this.onceEnded()
    this.#opening.reject(error)
    this.#batch?.reject(error)
    this.#batch = undefined
  }

  #send(packet: Packet): void {
    this.#socket.write(generate(packet, { protocolVersion: this.#options.protocolVersion }))
  }

  #connect(): void {
    const { will } = this.#options
    const connect = connectPacket(this.#options, { clean: true, keepAliveSeconds })
    const retainedWill = will && { ...will, payload: Buffer.from(will.payload), qos: 1 as const, retain: true }
    this.#send({ ...connect, ...(retainedWill && { will: retainedWill }) })
  }

  #take(chunk: Buffer): void {
    this.#packetAtMs = performance.now()
    this.#reader.push(chunk)
    for (let raw = this.#reader.next(); raw !== undefined; raw = this.#reader.next()) this.#answer(raw)
    this.#sendMore()
  }

  #answer(raw: RawPacket): void {
    const answer = readAnswer(raw)
    if (answer === 'connack') this.#opened()
    else if (answer === 'puback' && this.#batch !== undefined) this.#batch.acknowledged++
    else if (answer === 'publish') this.#retained(raw)
  }

  #opened(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    const { retainedOf: topic } = this.#options
    if (topic !== undefined) {
      const subscriptions = [{ topic, qos: 0 as const, rh: 0, rap: true, nl: true }]
      this.#send({ cmd: 'subscribe', messageId: subscriptionId, subscriptions })
    }
    this.#opening.resolve(this)
  }

  /** Messages that are not retained are echoes of this session. */
  #retained(raw: RawPacket): void {
    const { protocolVersion, retainedOf, onRetained } = this.#options
    if (retainedOf === undefined) throw new PacketError('protocol_error', 'unexpected packet type')
    const { topic, payload, retain } = readMessage(raw, protocolVersion)
    if (retain && payload !== 'too large' && payload.length > 0) onRetained?.(topic, payload.toString())
  }

  #sendMore(): void {
    const batch = this.#batch
    if (batch === undefined || !this.#isOpen) return
    const { messages } = batch
    if (batch.acknowledged === messages.length) {
      this.#batch = undefined
      batch.resolve()
      return
    }
    this.#socket.cork()
    for (; batch.sent < messages.length && batch.sent - batch.acknowledged < inFlightMax; batch.sent++) {
      const message = messages[batch.sent] as PublishedMessage
      // Unique among the messages in flight.
      const messageId = (batch.sent % (subscriptionId - 1)) + 1
      this.#send({ cmd: 'publish', ...message, qos: 1, dup: false, messageId })
    }
    this.#socket.uncork()
  }

  #ping(): void {
    const silentMs = performance.now() - this.#packetAtMs
    if (silentMs > 2 * keepAliveSeconds * 1000) this.end(refusal('no answer from the broker'))
    else if (this.#isOpen) this.#send({ cmd: 'pingreq' })
  }
}

type Answer = 'connack' | 'puback' | 'suback' | 'publish' | 'pingresp'

/** Throws for an unexpected packet, and for a refusal. */
function readAnswer({ bytes, start }: RawPacket): Answer {
  const fields = new FieldReader(bytes, start)
  switch ((bytes[0] ?? 0) >> 4) {
    case packetTypes.connack: {
      fields.byte()
      const code = fields.byte()
      if (code !== 0) throw refusal(`the connection is refused with code ${code}`)
      return 'connack'
    }
    case packetTypes.puback: {
      fields.packetId()
      // MQTT 5 adds a reason code unless it is success.
      const code = fields.hasMore ? fields.byte() : 0
      if (code >= refusedMin) throw refusal(`a message is refused with code ${code}`)
      return 'puback'
    }
    case packetTypes.publish:
      return 'publish'
    // A refused subscription leaves messages of earlier runs behind, and nothing else.
    case packetTypes.suback:
      return 'suback'
    case packetTypes.pingresp:
      return 'pingresp'
    case packetTypes.disconnect:
      throw refusal('the broker has closed the connection')
    default:
      throw new PacketError('protocol_error', 'unexpected packet type')
  }
}

function refusal(message: string): Error {
  return Object.assign(new Error(message), { code: 'MQTT_REFUSED' })
}

/** Rejects on an abort, or with an error that has a code. Some messages may then be delivered, and delivered again by a retry. */
type PublishAtBroker = (messages: readonly PublishedMessage[], signal: AbortSignal) => Promise<void>

/** Publishes at the outside broker, with a new connection each time. */
export function createBrokerPublisher(address: BrokerAddress): PublishAtBroker {
  return async (messages, signal) => {
    // Several may publish at a time, beside the subscribing connection.
    const clientId = `${address.clientId}-${randomBytes(4).toString('hex')}`
    const session = await openBrokerSession({ ...address, clientId }, signal)
    await session.publish(messages)
    session.close()
  }
}
