/**
 * A device that publishes over MQTT at QoS 1. A PUBACK is an answer 200; a message under way when the connection broke has
 * none, and is not sent again.
 */

import { connect, type Socket } from 'node:net'
import { generate, type Packet, parser } from 'mqtt-packet'
import { answerMsMax, type OnAnswer, type Pipe } from './pipe.ts'

export interface MqttPipeOptions {
  port: number
  device: string
  /** As of now. */
  password: () => string
}

const messageIdMax = 65_535

export class MqttPipe implements Pipe {
  readonly #options: MqttPipeOptions
  readonly #waiting = new Map<number, OnAnswer>()
  #socket: Socket | undefined
  #timer: NodeJS.Timeout | undefined
  #messageId = 0
  /** Of the connection. */
  password = ''

  constructor(options: MqttPipeOptions) {
    this.#options = options
  }

  get outstanding(): number {
    return this.#waiting.size
  }

  open(): Promise<boolean> {
    if (this.#socket !== undefined) return Promise.resolve(true)
    const { port, device, password } = this.#options
    const connectionPassword = password()
    return new Promise(resolve => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      const packets = parser({ protocolVersion: 4 })
      packets.on('packet', (packet: Packet) => {
        if (packet.cmd === 'puback') this.#acknowledged(packet.messageId ?? 0)
        else if (packet.cmd === 'connack' && packet.returnCode === 0) {
          this.#socket = socket
          this.password = connectionPassword
          resolve(true)
        } else socket.destroy()
      })
      socket.on('connect', () => socket.write(connectPacket(device, connectionPassword)))
      socket.on('data', piece => packets.parse(piece))
      socket.on('error', () => undefined)
      socket.on('close', () => {
        resolve(false)
        if (this.#socket === socket) this.#lose()
      })
    })
  }

  send(payload: string, onAnswer: OnAnswer): void {
    do this.#messageId = (this.#messageId % messageIdMax) + 1
    while (this.#waiting.has(this.#messageId))
    this.#waiting.set(this.#messageId, onAnswer)
    const message = { qos: 1 as const, messageId: this.#messageId, dup: false, retain: false }
    this.#socket?.write(generate({ cmd: 'publish', topic: `readings/${this.#options.device}`, payload, ...message }))
    this.#timer ??= setTimeout(() => this.close(), answerMsMax)
  }

  close(): void {
    this.#socket?.destroy()
    if (this.#socket !== undefined) this.#lose()
  }

  #acknowledged(messageId: number): void {
    const onAnswer = this.#waiting.get(messageId)
    this.#waiting.delete(messageId)
    clearTimeout(this.#timer)
    this.#timer = this.#waiting.size === 0 ? undefined : setTimeout(() => this.close(), answerMsMax)
    onAnswer?.({ status: 200, body: '' })
  }

  #lose(): void {
    this.#socket = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const onAnswer of waiting) onAnswer(undefined)
  }
}

function connectPacket(device: string, password: string): Buffer {
  return generate({
    ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, keepalive: 0, clientId: '' },
    ...{ username: device, password: Buffer.from(password) },
  })
}
