/** One client of the MQTT listener, from its connection to its end. There are publications and nothing else. */

import type { Socket } from 'node:net'
import type { IConnectPacket } from 'mqtt-packet'
import type { AuthRateLimit } from '../http/auth-rate-limit.ts'
import type { Intake } from '../logger/intake.ts'
import type { ReadingMeter } from '../logger/reading-meter.ts'
import type { Credential, FindCredential } from './credentials.ts'
import { Deliveries, type Fault } from './deliveries.ts'
import { PacketChannel } from './packet-channel.ts'
import { limitsOf } from './packet-limits.ts'
import type { ByteBudget } from './packet-reader.ts'
import type { PacketDecoder, Received } from './packets.ts'

/** Why a connection was closed. */
export const closeReasons = [
  'client',
  'malformed',
  'timeout',
  'protocol_version',
  'unauthorized',
  'revoked',
  'topic',
  'not_stored',
  'taken_over',
  'unavailable',
  'stopping',
] as const satisfies (Fault | string)[]
export type CloseReason = (typeof closeReasons)[number]

export interface SessionOptions {
  intake: Intake
  meter: ReadingMeter
  findCredential: FindCredential
  authRateLimit: AuthRateLimit
  decoder: PacketDecoder
  budget: ByteBudget
  /** The client has been let in by the credential and the client identifier that `name` is made of. */
  onOpen: (session: Session, name: string) => void
  onClosed: (session: Session, reason: CloseReason) => void
}

const connectMsMax = 10_000
/** Of a packet that has begun. */
const packetMsMax = 30_000
/** Of a client that asks for no limit. */
const silenceMsMax = 60 * 60_000

const protocolVersion = 4
const returnCodes = { accepted: 0, version: 1, identifier: 2, unavailable: 3, credentials: 4 } as const
const qosRefused = 0x80

const beforeConnect = limitsOf('connect')
const whenOpen = limitsOf('publish', 'pubrel', 'subscribe', 'unsubscribe', 'pingreq', 'disconnect')

export class Session {
  readonly #options: SessionOptions
  readonly #address: string
  readonly #channel: PacketChannel
  readonly #deliveries: Deliveries
  readonly #connectedAtMs = performance.now()
  #state: 'connecting' | 'authenticating' | 'open' | 'closed' = 'connecting'
  #credential: Credential | undefined
  #silenceMsMax = silenceMsMax
  #isStopping = false

  constructor(socket: Socket, options: SessionOptions) {
    this.#options = options
    this.#address = socket.remoteAddress ?? ''
    const { intake, meter, decoder, budget } = options
    this.#deliveries = new Deliveries({
      ...{ intake, meter, writer: () => this.#credential?.writer(), closesOnTopic: true },
      send: answer => this.#channel.send(answer),
      onSettled: () => this.#settled(),
      onRefused: fault => this.close(fault),
    })
    this.#channel = new PacketChannel({
      ...{ socket, protocolVersion, decoder, budget },
      limitOf: type => (this.#state === 'open' ? whenOpen : beforeConnect)(type),
      canTake: () => this.#canTake(),
      onPacket: packet => this.#take(packet),
      onMalformed: () => this.close('malformed'),
    })
    // What ends a connection is told by its end.
    socket.on('error', () => undefined)
    socket.once('close', () => this.close('client'))
  }

  /** Closes it behind what was sent. */
  close(reason: CloseReason): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#deliveries.close()
    this.#channel.end()
    this.#options.onClosed(this, reason)
  }

  /** Takes nothing more, and closes when all that was taken has its outcome. */
  stop(): void {
    this.#isStopping = true
    this.#settled()
  }

  /** Looks at what only time changes; it has to be called twice a second. */
  check(nowMs: number): void {
    if (this.#isOverdue(nowMs)) this.close('timeout')
    else if (this.#state === 'open') this.#checkCredential()
  }

  #isOverdue(nowMs: number): boolean {
    if (this.#state !== 'open') return nowMs - this.#connectedAtMs > connectMsMax
    const { partialSinceMs, packetAtMs } = this.#channel
    if (partialSinceMs !== undefined && nowMs - partialSinceMs > packetMsMax) return true
    // Nobody is blamed for the silence while it is we who do not read.
    return this.#canTake() && nowMs - packetAtMs > this.#silenceMsMax
  }

  #checkCredential(): void {
    if (this.#credential?.writer() === undefined) this.close('revoked')
    else this.#credential.refresh?.().catch(() => this.close('unavailable'))
  }

  #canTake(): boolean {
    if (this.#isStopping) return false
    return this.#state === 'connecting' || (this.#state === 'open' && this.#deliveries.canTake())
  }

  #settled(): void {
    if (this.#isStopping && this.#deliveries.size === 0) this.close('stopping')
    else this.#channel.resume()
  }

  #take(packet: Received): void {
    switch (packet.cmd) {
      case 'connect':
        void this.#connect(packet)
        return
      case 'publish':
        this.#deliveries.take(packet)
        return
      case 'pubrel':
        this.#channel.send({ cmd: 'pubcomp', messageId: idOf(packet) })
        return
      case 'subscribe':
        // It names at least one topic filter (MQTT-3.8.3-3), and an answer without return codes is no packet.
        if (packet.subscriptions.length === 0) this.close('malformed')
        else {
          const granted = packet.subscriptions.map(() => qosRefused)
          this.#channel.send({ cmd: 'suback', messageId: idOf(packet), granted })
        }
        return
      case 'unsubscribe':
        this.#channel.send({ cmd: 'unsuback', messageId: idOf(packet), granted: [] })
        return
      case 'pingreq':
        this.#channel.send({ cmd: 'pingresp' })
        return
      default:
        this.close('client')
    }
  }

  async #connect(packet: IConnectPacket): Promise<void> {
    this.#state = 'authenticating'
    if (packet.protocolId !== 'MQTT' || packet.protocolVersion !== protocolVersion) {
      this.#refuse(returnCodes.version, 'protocol_version')
      return
    }
    if (packet.clientId === '' && packet.clean !== true) {
      this.#refuse(returnCodes.identifier, 'malformed')
      return
    }
    const credential = await this.#authenticate(packet)
    // It may have gone meanwhile.
    if (credential !== undefined && this.#state === 'authenticating') this.#open(packet, credential)
  }

  #open({ keepalive = 0, clientId }: IConnectPacket, credential: Credential): void {
    this.#credential = credential
    this.#state = 'open'
    if (keepalive > 0) this.#silenceMsMax = keepalive * 1500
    this.#channel.send({ cmd: 'connack', returnCode: returnCodes.accepted, sessionPresent: false })
    this.#options.onOpen(this, clientId === '' ? '' : `${credential.id} ${clientId}`)
    this.#channel.resume()
  }

  async #authenticate({ username = '', password }: IConnectPacket): Promise<Credential | undefined> {
    const { findCredential, authRateLimit, meter } = this.#options
    let credential: Credential | undefined
    try {
      credential = await findCredential(username, password?.toString() ?? '')
    } catch {
      // The database is away, or does not tell what came of a change of the key.
      this.#refuse(returnCodes.unavailable, 'unavailable')
      return undefined
    }
    if (credential === undefined) {
      const isExceeded = authRateLimit.isExceeded(this.#address)
      meter.rejected(isExceeded ? 'throttled' : 'unauthorized')
      this.#refuse(isExceeded ? returnCodes.unavailable : returnCodes.credentials, 'unauthorized')
    }
    return credential
  }

  #refuse(returnCode: number, reason: CloseReason): void {
    this.#channel.send({ cmd: 'connack', returnCode, sessionPresent: false })
    this.close(reason)
  }
}

function idOf({ messageId }: { messageId?: number }): number {
  return messageId ?? 0
}
