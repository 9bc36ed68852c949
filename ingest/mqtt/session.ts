/** One client of the MQTT listener, from its connection to its end. Only publications are supported. */

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Packet } from 'mqtt-packet'
import { LeaseExpired } from '../../auth/record-cache.ts'
import { unknownSender } from '../../store/limits/networks.ts'
import type { RecentMessages } from '../decoders/recent-messages.ts'
import type { Intake } from '../intake/intake.ts'
import type { ReadingMeter } from '../intake/reading-meter.ts'
import { boundedText } from '../rejections/bounded-text.ts'
import type { RejectedSender } from '../rejections/rejection.ts'
import type { SenderLog } from '../rejections/rejections.ts'
import { type Connect, readConnect, readProtocolVersion } from './connect-packet.ts'
import type { Authenticate, Credential } from './credentials.ts'
import { createDecodeMessage, type FindDecoder, rejectionIn } from './decoded-message.ts'
import { Deliveries } from './deliveries.ts'
import { PacketChannel } from './packet-channel.ts'
import { PacketError } from './packet-fields.ts'
import { noProperties } from './packet-properties.ts'
import type { ByteAllowance, RawPacket } from './packet-reader.ts'
import { type Received, readPacket } from './packets.ts'
import { keepAliveSecondsWithout, limitsOf, mqtt311, type Protocol } from './protocol.ts'
import { createMqtt5 } from './protocol-5.ts'
import { rejectionOf } from './reading-message.ts'
import { type CloseReason, closeReasons, isClientFault, type ReasonCode } from './reason-codes.ts'

export interface SessionOptions {
  intake: Pick<Intake, 'take' | 'prepare'>
  meter: Pick<ReadingMeter, 'rejected' | 'leftOut'>
  authenticate: Authenticate
  /** Finds decoders of topics in formats of sensors. */
  findDecoder: FindDecoder
  /** Keeps messages of sensors. */
  recent?: Pick<RecentMessages, 'add'> | undefined
  /** True if subscriptions are granted. Their clients receive no messages all the same. */
  grantsSubscriptions: () => boolean
  /** The budget limits incomplete packets. */
  budget: ByteAllowance
  aliasBudget: ByteAllowance
  senderLog: SenderLog
  /** The client was authenticated. `name` combines its credential and its client identifier. */
  onOpen: (session: MqttSession, name: string) => void
  onClosed: (session: MqttSession, reason: CloseReason) => void
}

/** Details of an end besides its reason. */
interface EndDetails {
  /** Replaces the code of the reason. */
  code?: ReasonCode
  text?: string
  topic?: string
}

/** Fields of a log line about an occurrence, besides the sender. */
interface Occurrence {
  reason?: string
  detail?: string | undefined
  topic?: string | undefined
  err?: unknown
}

const connectMsMax = 10_000
/** Time limit of an incomplete packet. */
const packetMsMax = 30_000
const clientIdLengthMax = 256
/** Limit of a client's texts in the log. */
const loggedLengthMax = 200

const beforeConnect = limitsOf('connect')

export class MqttSession {
  readonly #options: SessionOptions
  readonly #address: string
  /** The sender is the credential's, once it was valid. */
  #sender: RejectedSender
  readonly #channel: PacketChannel<Received>
  readonly #connectedAtMs = performance.now()
  #state: 'connecting' | 'authenticating' | 'open' | 'closed' = 'connecting'
  /** Undefined before the CONNECT names it. */
  #protocol: Protocol | undefined
  #connect: Connect | undefined
  #isBridge = false
  #credential: Credential | undefined
  /** Set for an authenticated client. */
  #deliveries: Deliveries | undefined
  #refreshing: Promise<void> | undefined
  #isStopping = false

  constructor(socket: Socket, options: SessionOptions) {
    this.#options = options
    this.#address = socket.remoteAddress ?? ''
    this.#sender = unknownSender(this.#address)
    this.#channel = new PacketChannel({
      socket,
      budget: options.budget,
      limitOf: type => (this.#protocol?.limitOf ?? beforeConnect)(type),
      canTake: () => this.#canTake(),
      decode: raw => (this.#protocol === undefined ? this.#readConnect(raw) : readPacket(raw, this.#protocol.version)),
      onPacket: packet => this.#take(packet),
      onMalformed: ({ reason, message }) => this.close(reason, { text: message }),
      onFailed: error => this.#fail(error),
    })
    // The close event reports the end of a connection.
    socket.on('error', () => undefined)
    socket.once('close', () => this.close('client'))
  }

  /** Closes the connection after all sent packets, and reports the reason to the client as far as its version allows. */
  close(reason: CloseReason, details: EndDetails = {}): void {
    if (this.#state === 'closed') return
    const isOpen = this.#state === 'open'
    this.#state = 'closed'
    this.#deliveries?.close()
    const { code = closeReasons[reason], text } = details
    if (reason !== 'client') this.#send(this.#protocol?.ending(code, text, isOpen))
    this.#protocol?.close()
    this.#channel.end()
    if (isClientFault(reason))
      this.#log('warn', 'MQTT connection closed', { reason, detail: text, topic: details.topic })
    this.#options.onClosed(this, reason)
  }

  /** Accepts nothing more, and closes when all accepted messages have their outcome. */
  stop(): void {
    this.#isStopping = true
    this.#settled()
  }

  /** Checks the time limits. It has to be called twice a second. */
  check(nowMs: number): void {
    try {
      const overdue = this.#overdue(nowMs)
      if (overdue !== undefined) this.close('timeout', { text: overdue })
      else if (this.#state === 'open') this.#checkCredential()
    } catch (error) {
      this.#fail(error)
    }
  }

  #overdue(nowMs: number): string | undefined {
    if (this.#state !== 'open') return nowMs - this.#connectedAtMs > connectMsMax ? 'no CONNECT' : undefined
    const { partialSinceMs, packetAtMs } = this.#channel
    if (partialSinceMs !== undefined && nowMs - partialSinceMs > packetMsMax) return 'incomplete packet'
    const keepAliveSeconds = this.#connect?.keepAliveSeconds || keepAliveSecondsWithout
    // A client is not blamed for its silence while this side does not read.
    return this.#canTake() && nowMs - packetAtMs > keepAliveSeconds * 1500
      ? 'no packet within the keep-alive'
      : undefined
  }

  #checkCredential(): void {
    if (this.#credential?.writer() === undefined) this.close('revoked')
    else this.#refresh()?.catch(error => this.#fail(error))
  }

  #refresh(): Promise<void> | undefined {
    this.#refreshing ??= this.#credential
      ?.refresh?.()
      .catch(() => this.close('unavailable'))
      .finally(() => {
        this.#refreshing = undefined
      })
    return this.#refreshing
  }

  /** Handles an internal error. The outcome of the messages is unknown, so they get no acknowledgement. */
  #fail(error: unknown): void {
    if (error instanceof LeaseExpired) {
      this.close('unavailable')
      return
    }
    if (this.#state !== 'closed') this.#log('error', 'MQTT connection failed', { err: error })
    this.close('failed')
  }

  #canTake(): boolean {
    if (this.#isStopping) return false
    return this.#state === 'connecting' || (this.#state === 'open' && this.#deliveries?.canTake() === true)
  }

  #settled(): void {
    if (this.#isStopping && (this.#deliveries?.size ?? 0) === 0) this.close('stopping')
    else this.#channel.resume()
  }

  /** A refusal can be sent to the client in its version's format from now on. */
  #readConnect(raw: RawPacket): Connect {
    const { version, isBridge, rest } = readProtocolVersion(raw)
    this.#isBridge = isBridge
    this.#protocol = version === 4 || version === 'old' ? mqtt311 : createMqtt5(noProperties, this.#options.aliasBudget)
    if (version === 'old' || version === 'new') {
      throw new PacketError('protocol_version', 'the service speaks MQTT 3.1.1 and 5')
    }
    const connect = readConnect(raw, rest, version)
    if (version === 5) this.#protocol = createMqtt5(connect.properties, this.#options.aliasBudget)
    return connect
  }

  #take(packet: Received): void {
    const [protocol, deliveries] = [this.#protocol, this.#deliveries]
    if (packet.cmd === 'connect') this.#start(packet)
    else if (protocol !== undefined && deliveries !== undefined) this.#takeOpen(packet, protocol, deliveries)
  }

  #takeOpen(packet: Exclude<Received, Connect>, protocol: Protocol, deliveries: Deliveries): void {
    switch (packet.cmd) {
      case 'publish':
        deliveries.take(protocol.resolve(packet))
        return
      case 'pubrel':
        this.#send(protocol.released(packet.messageId, deliveries.release(packet.messageId)))
        return
      case 'subscribe':
        this.#send(protocol.subscribed(packet, this.#options.grantsSubscriptions()))
        return
      case 'unsubscribe':
        this.#send(protocol.unsubscribed(packet))
        return
      case 'pingreq':
        this.#send({ cmd: 'pingresp' })
        return
      case 'auth':
        throw new PacketError('protocol_error', 'AUTH without an authentication method')
      case 'disconnect':
        this.#checkExpiry(packet.properties.sessionExpiryInterval ?? 0)
        this.close('client')
    }
  }

  /** A session that ends with its connection cannot be prolonged (MQTT 5, 3.14.2.2.2). */
  #checkExpiry(seconds: number): void {
    const atConnect = this.#connect?.properties.sessionExpiryInterval ?? 0
    if (seconds > 0 && atConnect === 0) throw new PacketError('protocol_error', 'the session ends with its connection')
  }

  #start(connect: Connect): void {
    this.#state = 'authenticating'
    this.#connect = connect
    const refusal =
      connect.clientId.length > clientIdLengthMax ? 'client_identifier' : this.#protocol?.refusalOf(connect)
    if (refusal === undefined) this.#authenticate(connect).catch(error => this.#fail(error))
    else this.close(refusal)
  }

  async #authenticate(connect: Connect): Promise<void> {
    const found = await this.#options.authenticate(connect, this.#address)
    if (typeof found === 'string') this.close(found)
    // The client may have disconnected meanwhile.
    else if (this.#state === 'authenticating') this.#open(found, connect)
  }

  #open(credential: Credential, connect: Connect): void {
    const protocol = this.#protocol
    if (protocol === undefined) return
    const clientId = connect.clientId === '' ? randomUUID() : connect.clientId
    this.#credential = credential
    this.#sender = credential.sender
    this.#deliveries = this.#deliver(protocol, credential)
    if (!this.#send(protocol.connected(connect, clientId))) {
      this.close('too_large', { text: 'the CONNACK exceeds the maximum packet size of the client' })
      return
    }
    this.#state = 'open'
    this.#options.onOpen(this, `${credential.id} ${clientId}`)
    this.#channel.resume()
  }

  #deliver(rules: Protocol, { writer }: Credential): Deliveries {
    const { intake, meter, findDecoder, recent } = this.#options
    return new Deliveries({
      intake,
      writer,
      refresh: async () => this.#refresh(),
      rules,
      decode: createDecodeMessage(findDecoder, recent),
      // A bridge sends the stored messages of its broker at each connection.
      decodesRetained: !this.#isBridge,
      send: answer => this.#send(answer),
      onSettled: () => this.#settled(),
      onLeftOut: ({ part, reason }, topic, device) => {
        meter.leftOut({ ...rejectionOf(this.#sender, reason, topic, device), part }, this.#about(topic))
      },
      onRejected: (refusal, topic, device, fields) => {
        const now = writer()
        const rejection =
          now === undefined || now === 'unknown'
            ? rejectionOf(this.#sender, refusal.text, topic, device)
            : rejectionIn(findDecoder, now, refusal, topic, device, fields)
        meter.rejected(refusal.reason, rejection, this.#about(topic))
      },
      onRefused: (fault, { code, text }, topic) => this.close(fault, { code, text, topic }),
      onFailed: error => this.#fail(error),
    })
  }

  /** Returns false when the client cannot accept it. */
  #send(packet: Packet | undefined): boolean {
    const bytes = packet && this.#protocol?.encode(packet)
    if (bytes === undefined) return false
    this.#channel.send(bytes)
    return true
  }

  #log(level: 'warn' | 'error', text: string, { topic, ...fields }: Occurrence): void {
    const sender = this.#sender.name
    this.#options.senderLog(sender, level, { ...fields, sender, ...this.#about(topic) }, text)
  }

  #about(topic: string | undefined): object {
    const clientId = this.#connect?.clientId
    return {
      client: clientId && boundedText(clientId, loggedLengthMax),
      address: this.#address,
      topic: topic && boundedText(topic, loggedLengthMax),
    }
  }
}
