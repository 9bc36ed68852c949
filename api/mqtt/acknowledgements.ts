/** Messages that wait for their outcome. They are acknowledged in the order in which they came (MQTT 3.1.1, 4.6). */

import type { IPubackPacket, IPubrecPacket } from 'mqtt-packet'
import type { Publish } from './packets.ts'

/** Of QoS 1 and QoS 2. */
export type Acknowledgement = IPubackPacket | IPubrecPacket

interface Waiting {
  /** Undefined at QoS 0. */
  answer: Acknowledgement | undefined
  isSettled: boolean
}

export class Acknowledgements {
  readonly #send: (answer: Acknowledgement) => void
  #waiting: Waiting[] = []

  constructor(send: (answer: Acknowledgement) => void) {
    this.#send = send
  }

  /** Messages without an outcome, or behind one. */
  get size(): number {
    return this.#waiting.length
  }

  /** Adds a message; call what is returned when it is to be acknowledged. */
  add({ qos, messageId }: Publish): () => void {
    const cmd = qos === 2 ? 'pubrec' : 'puback'
    const message: Waiting = { answer: messageId === undefined ? undefined : { cmd, messageId }, isSettled: false }
    this.#waiting.push(message)
    return () => {
      message.isSettled = true
      this.#flush()
    }
  }

  #flush(): void {
    let count = 0
    for (const { answer, isSettled } of this.#waiting) {
      if (!isSettled) break
      if (answer !== undefined) this.#send(answer)
      count++
    }
    if (count > 0) this.#waiting = this.#waiting.slice(count)
  }
}
