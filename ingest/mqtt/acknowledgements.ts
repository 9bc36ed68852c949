/** Messages waiting for their outcome. They are acknowledged in the order of their arrival (MQTT 3.1.1 and 5, 4.6). */

import type { IPubackPacket, IPubrecPacket } from 'mqtt-packet'
import type { PublishHead } from './packets.ts'

/** QoS 1 uses PUBACK and QoS 2 PUBREC. */
export type Acknowledgement = IPubackPacket | IPubrecPacket

interface Waiting {
  qos: PublishHead['qos']
  messageId: number
  isSettled: boolean
  /** Undefined at QoS 0. */
  answer: Acknowledgement | undefined
}

export class Acknowledgements {
  readonly #send: (answer: Acknowledgement) => void
  #waiting: Waiting[] = []
  /** Number of unacknowledged messages at QoS 1. */
  #unacknowledged = 0

  constructor(send: (answer: Acknowledgement) => void) {
    this.#send = send
  }

  /** Messages without an outcome, or behind one. */
  get size(): number {
    return this.#waiting.length
  }

  /** The QoS 1 messages among them. */
  get unacknowledged(): number {
    return this.#unacknowledged
  }

  /** True when a QoS 2 message with this identifier is among them. */
  hasReceived(messageId: number): boolean {
    return this.#waiting.some(message => message.qos === 2 && message.messageId === messageId)
  }

  /** Adds a message. Call the result with its acknowledgement. */
  add({ qos, messageId }: PublishHead): (answer: Acknowledgement | undefined) => void {
    const message: Waiting = { qos, messageId, isSettled: false, answer: undefined }
    this.#waiting.push(message)
    if (qos === 1) this.#unacknowledged++
    return answer => {
      message.isSettled = true
      message.answer = answer
      if (this.#waiting[0] === message) this.#flush()
    }
  }

  #flush(): void {
    let count = 0
    for (const { qos, answer, isSettled } of this.#waiting) {
      if (!isSettled) break
      if (answer !== undefined) this.#send(answer)
      if (qos === 1) this.#unacknowledged--
      count++
    }
    this.#waiting.splice(0, count)
  }
}

const idMax = 0xffff

/**
 * Identifiers of unreleased QoS 2 messages: a second message with the same identifier is a repetition. MQTT 3.1.1 limits their
 * number only by the identifiers, so each takes one bit.
 */
export class MessageIds {
  /** Most clients publish nothing at QoS 2. */
  #bits: Uint8Array | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  has(id: number): boolean {
    return ((this.#bits?.[id >> 3] ?? 0) & (1 << (id & 7))) !== 0
  }

  add(id: number): void {
    if (this.has(id)) return
    this.#bits ??= new Uint8Array((idMax + 1) >> 3)
    this.#flip(this.#bits, id)
    this.#size++
  }

  /** Returns false for an unknown identifier. */
  delete(id: number): boolean {
    if (this.#bits === undefined || !this.has(id)) return false
    this.#flip(this.#bits, id)
    this.#size--
    return true
  }

  #flip(bits: Uint8Array, id: number): void {
    bits[id >> 3] = (bits[id >> 3] ?? 0) ^ (1 << (id & 7))
  }
}
