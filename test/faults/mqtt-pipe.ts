/**
 * A device that publishes over MQTT at QoS 1. A PUBACK is an answer 200, or 400 with an error of MQTT 5; a message under
 * way when the connection broke has none, and is not sent again.
 */

import { connect, type Socket } from 'node:net'
import { generate, type Packet, parser } from 'mqtt-packet'
import { answerMsMax, type OnAnswer, type Pipe } from './pipe.ts'

/** 4 is MQTT 3.1.1. */
export type MqttVersion = 4 | 5

export interface MqttPipeOptions {
  version: MqttVersion
  port: number
  device: string
  /** As of now. */
  password: () => string
}

const messageIdMax = 65_535
/** From here on a reason code is an error. */
const errorMin = 0x80

export class MqttPipe implements Pipe {
  readonly #options: MqttPipeOptions
  readonly #waiting = new Map<number, OnAnswer>()
  #socket: Socket | undefined
  #timer: NodeJS.Timeout | undefined
  #messageId = 0
  /** Of MQTT 5: from the second message on, an alias stands for the topic. */
  #hasAlias = false
  /** Of the connection. */
  password = ''

  constructor(options: MqttPipeOptions) {
    this.#options = options
  }

  get version(): MqttVersion {
    return this.#options.version
  }

  get outstanding(): number {
    return this.#waiting.size
  }

  open(): Promise<boolean> {
    if (this.#socket !== undefined) return Promise.resolve(true)
    const { version, port, device, password } = this.#options
    const connectionPassword = password()
    return new Promise(resolve => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      const packets = parser({ protocolVersion: version })
      packets.on('packet', (packet: Packet) => {
        if (packet.cmd === 'puback') this.#answered(packet.messageId ?? 0, packet.reasonCode ?? 0)
        else if (packet.cmd === 'connack' && (packet.returnCode ?? packet.reasonCode) === 0) {
          this.#socket = socket
          this.#hasAlias = false
          this.password = connectionPassword
          resolve(true)
        } else socket.destroy()
      })
      socket.on('connect', () => socket.write(connectPacket(version, device, connectionPassword)))
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
    this.#socket?.write(this.#publishPacket(payload))
    this.#timer ??= setTimeout(() => this.close(), answerMsMax)
  }

  close(): void {
    this.#socket?.destroy()
    if (this.#socket !== undefined) this.#lose()
  }

  #publishPacket(payload: string): Buffer {
    const { version, device } = this.#options
    const topic = this.#hasAlias ? '' : `readings/${device}`
    this.#hasAlias = version === 5
    return generate(
      {
        cmd: 'publish',
        topic,
        payload,
        qos: 1,
        messageId: this.#messageId,
        dup: false,
        retain: false,
        ...(version === 5 && { properties: { topicAlias: 1 } }),
      },
      { protocolVersion: version },
    )
  }

  #answered(messageId: number, reasonCode: number): void {
    const onAnswer = this.#waiting.get(messageId)
    this.#waiting.delete(messageId)
    clearTimeout(this.#timer)
    this.#timer = this.#waiting.size === 0 ? undefined : setTimeout(() => this.close(), answerMsMax)
    onAnswer?.({ status: reasonCode < errorMin ? 200 : 400, body: '' })
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

function connectPacket(protocolVersion: MqttVersion, device: string, password: string): Buffer {
  return generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion,
    clean: true,
    keepalive: 0,
    clientId: '',
    username: device,
    password: Buffer.from(password),
  })
}
