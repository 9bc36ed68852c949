/**
 * Handles the messages of one connection. A message that is stored, or permanently rejected, is acknowledged. If it might be
 * stored later, the connection is closed instead, after which it is sent again: an error in PUBACK would be final in MQTT 5, too.
 */

import type { Writer } from '../../auth/writers.ts'
import type { Fields } from '../field-names.ts'
import type { Intake, LeftOut, StoredReading } from '../intake/intake.ts'
import type { Refusal } from '../intake/refusal.ts'
import { type Acknowledgement, Acknowledgements, MessageIds } from './acknowledgements.ts'
import type { DecodedMessage, DecodeMessage } from './decoded-message.ts'
import type { Publish, PublishHead } from './packets.ts'
import type { DeliveryRules } from './protocol.ts'
import {
  type Body,
  deviceOfTopic,
  hasTime,
  isRetryable,
  type MessageRefusal,
  readBody,
  refusalOfDevice,
  refusalOfReading,
  refusals,
} from './reading-message.ts'
import type { CloseReason } from './reason-codes.ts'

export interface DeliveriesOptions {
  intake: Pick<Intake, 'take' | 'prepare'>
  /** The current writer, undefined after a revocation. `unknown`: call again after `refresh`. */
  writer: () => Writer | 'unknown' | undefined
  /** Closes the connection when the lookup fails. */
  refresh: () => Promise<void>
  rules: DeliveryRules
  /** Decodes messages in formats of sensors. */
  decode?: DecodeMessage | undefined
  /** The meaning is the one of `rules.takesRetained`, for these messages. */
  decodesRetained?: boolean | undefined
  send: (answer: Acknowledgement) => void
  /** Called after each outcome: more messages may be accepted. */
  onSettled: () => void
  /** A reading was rejected; `fields` where the intake refuses it. */
  onRejected: (refusal: MessageRefusal, topic: string, device?: string, fields?: Fields) => void
  /** A reading is stored without some of its values or fields. */
  onLeftOut: (leftOut: LeftOut, topic: string, device?: string) => void
  /** The connection must be closed, since this message is not acknowledged. */
  onRefused: (reason: Fault, refusal: MessageRefusal, topic: string) => void
  /** An internal error leaves the outcome of a message unknown. The connection must be closed. */
  onFailed: (error: unknown) => void
}

/** Reason why a message closes its connection without an acknowledgement. */
export type Fault = Extract<CloseReason, 'revoked' | 'topic' | 'not_stored' | 'receive_maximum'>

/** Kept until the outcome, so without the payload. */
interface Message {
  head: PublishHead
  /** The name, if the topic lacks it. */
  device?: string
  answer: (acknowledgement: Acknowledgement | undefined) => void
}

/** Interval of retries for a device beyond its rate. */
const throttledMs = 50
/** Reason codes from here on are errors. */
const errorMin = 0x80

export class Deliveries {
  readonly #options: DeliveriesOptions
  readonly #acknowledgements: Acknowledgements
  readonly #unreleased = new MessageIds()
  /** A message waits for its sender, device or metrics. Later ones stay unread, so that they keep their order. */
  #isHeld = false
  #throttled: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: DeliveriesOptions) {
    this.#options = options
    this.#acknowledgements = new Acknowledgements(options.send)
  }

  get size(): number {
    return this.#acknowledgements.size
  }

  canTake(): boolean {
    return !this.#isHeld && this.size < this.#options.rules.inFlightMax
  }

  take(publish: Publish): void {
    const writer = this.#options.writer()
    if (writer === 'unknown') this.#own(this.#takeLater(publish))
    else if (writer === undefined) this.#refuse('revoked', refusals.revoked, publish)
    else this.#takeAs(writer, publish)
  }

  #takeAs(writer: Writer, publish: Publish): void {
    if (publish.qos === 2 && this.#unreleased.has(publish.messageId)) this.#takeAgain(publish)
    else if (publish.qos > 0 && this.#isFull()) this.#refuse('receive_maximum', refusals.tooManyInFlight, publish)
    else this.#takeNew(writer, publish)
  }

  async #takeLater(publish: Publish): Promise<void> {
    this.#isHeld = true
    await this.#resume(publish, writer => this.#takeAs(writer, publish))
  }

  /** Resumes a held message with the current writer. */
  async #resume(head: PublishHead, goOn: (writer: Writer) => void): Promise<void> {
    const writer = await this.#currentWriter()
    this.#isHeld = false
    if (this.#isClosed) return
    if (writer === undefined) {
      this.#refuse('revoked', refusals.revoked, head)
      return
    }
    goOn(writer)
    this.#options.onSettled()
  }

  async #currentWriter(): Promise<Writer | undefined> {
    for (;;) {
      const writer = this.#isClosed ? undefined : this.#options.writer()
      if (writer !== 'unknown') return writer
      await this.#options.refresh()
    }
  }

  /** The sender of a QoS 2 message has its PUBREC. Returns false for an unknown message. */
  release(messageId: number): boolean {
    return this.#unreleased.delete(messageId)
  }

  /** Drops waiting messages. Messages being written to disk are stored if possible, without an acknowledgement. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#throttled)
  }

  #isFull(): boolean {
    return this.#acknowledgements.unacknowledged + this.#unreleased.size >= this.#options.rules.receiveMaximum
  }

  /** A repeated QoS 2 message gets the answer of the first one. While that is missing, MQTT 5 gets an error. */
  #takeAgain(publish: Publish): void {
    const { rules } = this.#options
    const refusal = this.#acknowledgements.hasReceived(publish.messageId) ? refusals.idInUse : undefined
    this.#acknowledgements.add(publish)(rules.acknowledgement(publish, refusal))
  }

  #takeNew(writer: Writer, publish: Publish): void {
    const decoded = this.#options.decode?.(publish)
    if (decoded === undefined) this.#takeOf(writer, publish)
    else this.#takeDecoded(writer, publish, decoded)
  }

  #takeOf(writer: Writer, publish: Publish): void {
    const { topic, payload, qos, messageId } = publish
    const deviceName = deviceOfTopic(topic) ?? ''
    const device = deviceName === '' ? undefined : writer.find(deviceName)
    const refusal = device === undefined ? refusals.topic : refusalOfDevice(device, deviceName, writer)
    if (refusal?.isOfTopic === true && this.#options.rules.closesOnTopic(publish)) {
      this.#refuse('topic', refusal, publish)
      return
    }
    if (qos === 2) this.#unreleased.add(messageId)
    const message: Message = { head: { topic, qos, messageId }, answer: this.#acknowledgements.add(publish) }
    const read: Body = refusal === undefined ? readBody(payload, deviceName) : { refusal }
    if (publish.retain && !this.#options.rules.takesRetained && 'body' in read && !hasTime(read.body)) {
      this.#ignoreRetained(message)
      return
    }
    if ('refusal' in read) {
      this.#settle(message, read.refusal)
      return
    }
    this.#takeBody(writer, read.body, deviceName, message)
  }

  #takeBody(writer: Writer, body: Fields, deviceName: string, message: Message): void {
    const preparing = this.#options.intake.prepare(writer, body)
    if (preparing === undefined) this.#store(writer, body, message)
    else this.#own(this.#storePrepared(preparing, deviceName, body, message))
  }

  #takeDecoded(writer: Writer, publish: Publish, decoded: DecodedMessage): void {
    const { topic, qos, messageId } = publish
    if (qos === 2) this.#unreleased.add(messageId)
    const message: Message = { head: { topic, qos, messageId }, answer: this.#acknowledgements.add(publish) }
    if ('refusal' in decoded) {
      this.#settle(message, decoded.refusal)
      return
    }
    const isStored = publish.retain && this.#options.decodesRetained !== true
    const bodies = isStored ? decoded.bodies.filter(hasTime) : decoded.bodies
    if (bodies.length < decoded.bodies.length) {
      this.#options.onLeftOut({ part: 'field', reason: retainedReason }, topic)
    }
    const [body] = bodies
    if (body === undefined) this.#settle(message, undefined)
    else if (bodies.length > 1) this.#own(this.#takeEach(bodies, message))
    else this.#takeBody(writer, body, nameIn(body), { ...message, device: nameIn(body) })
  }

  /**
   * The bodies are of one message, which is answered when all have an outcome. A device or metric is made once, so in
   * turns.
   */
  async #takeEach(bodies: readonly Fields[], message: Message): Promise<void> {
    this.#isHeld = true
    const answer = whenAll(message.answer, bodies.length)
    for (const body of bodies) {
      const writer = await this.#currentWriter()
      if (writer === undefined) return
      const refused = await this.#options.intake.prepare(writer, body)
      const part = { ...message, answer, device: nameIn(body) }
      if (this.#isClosed) return
      if (refused === undefined) this.#store(writer, body, part)
      else this.#settle(part, refusalOfReading(refused))
    }
    this.#isHeld = false
    this.#options.onSettled()
  }

  /** Acknowledged, since the broker would send it again otherwise. */
  #ignoreRetained(message: Message): void {
    this.#options.onLeftOut({ part: 'field', reason: retainedReason }, message.head.topic)
    this.#settle(message, undefined)
  }

  /** Accepts a reading once the registries have its device and metrics. */
  async #storePrepared(
    preparing: Promise<Refusal | undefined>,
    deviceName: string,
    body: Fields,
    message: Message,
  ): Promise<void> {
    this.#isHeld = true
    const refused = await preparing
    await this.#resume(message.head, writer => {
      const refusal = refused ? refusalOfReading(refused) : refusalOfDevice(writer.find(deviceName), deviceName)
      if (refusal === undefined) this.#store(writer, body, message)
      else this.#settle(message, refusal, body)
    })
  }

  #store(writer: Writer, body: Fields, message: Message): void {
    const taken = this.#options.intake.take(writer, body)
    if (taken instanceof Promise) {
      this.#own(taken.then(outcome => this.#settleOutcome(message, outcome)))
    } else if (taken.reason === 'throttled') {
      // The connection is not read meanwhile: back-pressure limits the sender.
      this.#isHeld = true
      const retry = () => this.#own(this.#resume(message.head, again => this.#store(again, body, message)))
      this.#throttled = setTimeout(retry, throttledMs)
    } else {
      this.#settle(message, refusalOfReading(taken), body)
    }
  }

  #settleOutcome(message: Message, outcome: Refusal | StoredReading): void {
    if ('reason' in outcome) {
      this.#settle(message, refusalOfReading(outcome))
      return
    }
    for (const leftOut of outcome.leftOut) this.#options.onLeftOut(leftOut, message.head.topic, message.device)
    this.#settle(message, undefined)
  }

  #own(work: Promise<void>): void {
    work.catch(this.#options.onFailed)
  }

  #settle({ head, device, answer }: Message, refusal: MessageRefusal | undefined, fields?: Fields): void {
    const { rules, onRejected, onSettled } = this.#options
    // The sender would not send it again at QoS 0.
    if (refusal !== undefined && head.qos > 0 && isRetryable(refusal)) {
      this.#refuse('not_stored', refusal, head)
      return
    }
    if (refusal !== undefined) onRejected(refusal, head.topic, device, fields)
    const acknowledgement = rules.acknowledgement(head, refusal)
    if (head.qos === 2 && isError(acknowledgement)) this.#unreleased.delete(head.messageId)
    answer(acknowledgement)
    onSettled()
  }

  #refuse(fault: Fault, refusal: MessageRefusal, { topic }: PublishHead): void {
    this.#options.onRejected(refusal, topic)
    if (!this.#isClosed) this.#options.onRefused(fault, refusal, topic)
  }
}

/** A decoder names the device of each reading. */
function nameIn(body: Fields): string {
  return String(body['device'])
}

/** Gives the answer at the last of so many calls. */
function whenAll(answer: Message['answer'], count: number): Message['answer'] {
  let left = count
  return acknowledgement => {
    left--
    if (left === 0) answer(acknowledgement)
  }
}

const retainedReason = 'a retained message without a time of its own is not a new reading'

function isError(acknowledgement: Acknowledgement | undefined): boolean {
  return (acknowledgement?.reasonCode ?? 0) >= errorMin
}
