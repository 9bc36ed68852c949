/** Clients over one plain socket, with pipelined requests. When the connection breaks, pending requests resolve without a response. */

import { connect, type Socket } from 'node:net'
import { generate, type Packet, parser } from 'mqtt-packet'
import type { Login } from './loads.ts'
import type { Random } from './seeded-random.ts'

export interface Answer {
  status: number
  body: string
}

type OnAnswer = (answer: Answer | undefined) => void

export type Ports = readonly [number, ...number[]]

const answerMsMax = 20_000

export abstract class Pipe {
  protected socket: Socket | undefined
  readonly #waiting = new Map<number, OnAnswer>()
  #timer: NodeJS.Timeout | undefined

  /** Connects if necessary. True if the connection is open. */
  open(): Promise<boolean> {
    return this.socket === undefined ? this.connect() : Promise.resolve(true)
  }

  protected abstract connect(): Promise<boolean>

  /** The connection must be open. */
  abstract send(request: string, onAnswer: OnAnswer): void

  get outstanding(): number {
    return this.#waiting.size
  }

  isWaiting(request: number): boolean {
    return this.#waiting.has(request)
  }

  close(): void {
    this.socket?.destroy()
    this.lose(this.socket)
  }

  protected write(request: number, bytes: string | Buffer, onAnswer: OnAnswer): void {
    this.#waiting.set(request, onAnswer)
    this.socket?.write(bytes)
    this.#timer ??= setTimeout(() => this.close(), answerMsMax)
  }

  protected answered(request: number, answer: Answer): void {
    const onAnswer = this.#waiting.get(request)
    this.#waiting.delete(request)
    clearTimeout(this.#timer)
    this.#timer = this.#waiting.size === 0 ? undefined : setTimeout(() => this.close(), answerMsMax)
    onAnswer?.(answer)
  }

  /** Ignores sockets other than the current one. */
  protected lose(socket: Socket | undefined): void {
    if (socket === undefined || this.socket !== socket) return
    this.socket = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const onAnswer of waiting) onAnswer(undefined)
  }
}

const headerEnd = Buffer.from('\r\n\r\n')

export class HttpPipe extends Pipe {
  /** Connections of all pipes that ended in the middle of a response. */
  static halfAnswers = 0
  readonly #ports: Ports
  readonly #random: Random
  #pending: Buffer = Buffer.alloc(0)
  #sent = 0
  #answered = 0

  /** Each connection uses one of the ports. */
  constructor(ports: Ports, random: Random) {
    super()
    this.#ports = ports
    this.#random = random
  }

  protected connect(): Promise<boolean> {
    return new Promise(resolve => {
      const socket = connect({ host: '127.0.0.1', port: this.#random.pick(this.#ports), noDelay: true })
      socket.on('connect', () => {
        this.socket = socket
        resolve(true)
      })
      socket.on('data', piece => this.#read(piece))
      socket.on('error', () => resolve(false))
      socket.on('close', () => this.lose(socket))
    })
  }

  send(request: string, onAnswer: OnAnswer): void {
    this.write(this.#sent++, request, onAnswer)
  }

  protected override lose(socket: Socket | undefined): void {
    if (socket !== undefined && socket === this.socket) {
      if (this.#pending.length > 0) HttpPipe.halfAnswers++
      this.#pending = Buffer.alloc(0)
      this.#answered = this.#sent
    }
    super.lose(socket)
  }

  #read(piece: Buffer): void {
    this.#pending = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece])
    for (;;) {
      const end = this.#pending.indexOf(headerEnd)
      if (end === -1) return
      const head = this.#pending.toString('latin1', 0, end)
      const bodyStart = end + headerEnd.length
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (this.#pending.length < bodyStart + length) return
      const body = this.#pending.toString('utf8', bodyStart, bodyStart + length)
      this.#pending = this.#pending.subarray(bodyStart + length)
      this.answered(this.#answered++, { status: Number(head.slice(9, 12)), body })
    }
  }
}

const messageIdMax = 65_535
const errorMin = 0x80

/** A device that publishes at QoS 1. A PUBACK counts as 200, or as 400 with an error of MQTT 5. Messages are not repeated. */
export class MqttPipe extends Pipe {
  /** 4 is MQTT 3.1.1. */
  readonly version: 4 | 5
  readonly #port: number
  readonly #device: Readonly<Login>
  #messageId = 0
  /** An alias of MQTT 5 replaces the topic from the second message on. */
  #hasAlias = false
  password = ''

  /** Each connection uses the device's password at that time. */
  constructor(version: 4 | 5, port: number, device: Readonly<Login>) {
    super()
    this.version = version
    this.#port = port
    this.#device = device
  }

  protected connect(): Promise<boolean> {
    const { name: username, password } = this.#device
    return new Promise(resolve => {
      const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true })
      const packets = parser({ protocolVersion: this.version })
      packets.on('packet', (packet: Packet) => {
        if (packet.cmd === 'puback') {
          this.answered(packet.messageId ?? 0, { status: (packet.reasonCode ?? 0) < errorMin ? 200 : 400, body: '' })
        } else if (packet.cmd === 'connack' && (packet.returnCode ?? packet.reasonCode) === 0) {
          this.socket = socket
          this.#hasAlias = false
          this.password = password
          resolve(true)
        } else socket.destroy()
      })
      const first = { cmd: 'connect', protocolId: 'MQTT', clean: true, keepalive: 0, clientId: '' } as const
      socket.on('connect', () =>
        socket.write(generate({ ...first, protocolVersion: this.version, username, password: Buffer.from(password) })),
      )
      socket.on('data', piece => packets.parse(piece))
      socket.on('error', () => undefined)
      socket.on('close', () => {
        resolve(false)
        this.lose(socket)
      })
    })
  }

  send(payload: string, onAnswer: OnAnswer): void {
    do this.#messageId = (this.#messageId % messageIdMax) + 1
    while (this.isWaiting(this.#messageId))
    const topic = this.#hasAlias ? '' : `readings/${this.#device.name}`
    this.#hasAlias = this.version === 5
    const packet = {
      cmd: 'publish',
      topic,
      payload,
      qos: 1,
      messageId: this.#messageId,
      dup: false,
      retain: false,
    } as const
    const properties = this.version === 5 ? { properties: { topicAlias: 1 } } : {}
    this.write(this.#messageId, generate({ ...packet, ...properties }, { protocolVersion: this.version }), onAnswer)
  }
}
