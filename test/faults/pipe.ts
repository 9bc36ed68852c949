/**
 * A client of HTTP over one plain socket: requests may go out before the answers to those before them came in. What was
 * under way when the connection broke has no answer, and the caller learns that.
 */

import { connect, type Socket } from 'node:net'
import type { Random } from './seeded-random.ts'

export interface Answer {
  status: number
  body: string
}

/** Undefined: there was no answer. */
export type OnAnswer = (answer: Answer | undefined) => void

export interface Pipe {
  /** Requests without an answer. */
  readonly outstanding: number
  /** True when there is a connection to send over, after a try to make one. */
  open(): Promise<boolean>
  /** The connection must be open. */
  send(request: string, onAnswer: OnAnswer): void
  close(): void
}

/** Of the processes that take requests. */
export type Ports = readonly [number, ...number[]]

export interface PipeCounts {
  /** Connections that ended in the middle of an answer. */
  halfAnswers: number
}

const headerEnd = Buffer.from('\r\n\r\n')
export const answerMsMax = 20_000

export class HttpPipe implements Pipe {
  readonly #ports: Ports
  readonly #random: Random
  readonly #counts: PipeCounts
  #socket: Socket | undefined
  #pending: Buffer = Buffer.alloc(0)
  #waiting: OnAnswer[] = []
  #timer: NodeJS.Timeout | undefined

  /** Each connection is to one of the ports. */
  constructor(ports: Ports, random: Random, counts: PipeCounts) {
    this.#ports = ports
    this.#random = random
    this.#counts = counts
  }

  get outstanding(): number {
    return this.#waiting.length
  }

  open(): Promise<boolean> {
    if (this.#socket !== undefined) return Promise.resolve(true)
    return new Promise(resolve => {
      const socket = connect({ host: '127.0.0.1', port: this.#random.pick(this.#ports), noDelay: true })
      socket.on('connect', () => {
        this.#socket = socket
        resolve(true)
      })
      socket.on('data', piece => this.#read(piece))
      socket.on('error', () => resolve(false))
      socket.on('close', () => {
        if (this.#socket === socket) this.#lose()
      })
    })
  }

  send(request: string, onAnswer: OnAnswer): void {
    this.#waiting.push(onAnswer)
    this.#socket?.write(request)
    this.#timer ??= setTimeout(() => this.close(), answerMsMax)
  }

  close(): void {
    this.#socket?.destroy()
    if (this.#socket !== undefined) this.#lose()
  }

  #lose(): void {
    this.#socket = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#pending.length > 0) this.#counts.halfAnswers++
    this.#pending = Buffer.alloc(0)
    const waiting = this.#waiting
    this.#waiting = []
    for (const onAnswer of waiting) onAnswer(undefined)
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
      clearTimeout(this.#timer)
      const onAnswer = this.#waiting.shift()
      this.#timer = this.#waiting.length === 0 ? undefined : setTimeout(() => this.close(), answerMsMax)
      onAnswer?.({ status: Number(head.slice(9, 12)), body })
    }
  }
}
