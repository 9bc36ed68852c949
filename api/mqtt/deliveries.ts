/**
 * What becomes of the messages of one connection. One that is stored, or never will be, is acknowledged; one that might
 * be stored later is not: MQTT 3.1.1 can say so only by closing the connection, after which it is sent again. QoS 2 has
 * the guarantee of QoS 1, since nothing is remembered of a message that was stored and not yet acknowledged.
 */

import type { Writer } from '../../auth/writers.ts'
import type { Intake } from '../logger/intake.ts'
import type { ReadingMeter, RejectionReason } from '../logger/reading-meter.ts'
import { type Acknowledgement, Acknowledgements } from './acknowledgements.ts'
import type { Publish } from './packets.ts'
import { type Body, deviceOfTopic, readBody } from './reading-message.ts'

export interface DeliveriesOptions {
  intake: Intake
  meter: Pick<ReadingMeter, 'rejected'>
  /** Who may write, as of now; undefined for nobody any more. */
  writer: () => Writer | undefined
  /** Whether a message to a topic that is not the writer's ends the connection; else it is acknowledged. */
  closesOnTopic: boolean
  send: (answer: Acknowledgement) => void
  /** Called after each outcome: more may be taken again. */
  onSettled: () => void
  /** The connection must be closed. */
  onRefused: (reason: Fault) => void
}

/** Why a message closes its connection without being acknowledged. */
export type Fault = 'revoked' | 'topic' | 'not_stored'

interface Message {
  qos: Publish['qos']
  acknowledge: () => void
}

/** Messages of one connection that wait for the disk. */
const inFlightMax = 100
/** How soon a device that has used up its rate is asked again. */
const throttledMs = 50

/** Sending the message again may help. */
const retryable: ReadonlySet<RejectionReason> = new Set(['suspended', 'full', 'closing', 'unknown', 'database_away'])

export class Deliveries {
  readonly #options: DeliveriesOptions
  readonly #acknowledgements: Acknowledgements
  /** A message waits for its device; those behind it stay unread, so that they keep their order. */
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
    return !this.#isHeld && this.size < inFlightMax
  }

  take(publish: Publish): void {
    const writer = this.#options.writer()
    if (writer === undefined) this.#refuse('revoked', 'unauthorized')
    else this.#takeOf(writer, publish)
  }

  #takeOf(writer: Writer, publish: Publish): void {
    const { topic, payload, qos } = publish
    const deviceName = deviceOfTopic(topic)
    const device = deviceName === undefined ? 'DEVICE_MISMATCH' : writer.find(deviceName)
    if (device === 'DEVICE_MISMATCH' && this.#options.closesOnTopic) {
      this.#refuse('topic', 'mismatch')
      return
    }
    const message: Message = { qos, acknowledge: this.#acknowledgements.add(publish) }
    if (deviceName === undefined || device === 'DEVICE_MISMATCH') {
      this.#settle(message, 'unknown_device')
      return
    }
    const refusal = refusalOf(device, writer)
    const read: Body = refusal === undefined ? readBody(payload, deviceName) : { reason: refusal }
    if ('reason' in read) this.#settle(message, read.reason)
    else if (device === 'DEVICE_UNKNOWN') void this.#create(writer, deviceName, read.body, message)
    else this.#store(writer, read.body, message)
  }

  /** What waits for its turn is given up; what waits for the disk is acknowledged if it can be. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#throttled)
  }

  /** Makes the device, as far as the writer may, and then takes its reading. */
  async #create(writer: Writer, deviceName: string, body: unknown, message: Message): Promise<void> {
    this.#isHeld = true
    const created = await writer.createDevices([deviceName])
    this.#isHeld = false
    if (this.#isClosed) return
    const device = writer.find(deviceName)
    const refusal = created === 'later' ? 'database_away' : refusalOf(device)
    if (refusal === undefined) this.#store(writer, body, message)
    else this.#settle(message, refusal)
    this.#options.onSettled()
  }

  #store(writer: Writer, body: unknown, message: Message): void {
    const taken = this.#options.intake.take(writer, body)
    if (taken instanceof Promise) {
      void taken.then(refusal => this.#settle(message, refusal?.reason))
    } else if (taken.reason === 'throttled') {
      // The connection is not read meanwhile: the back-pressure is the answer.
      this.#isHeld = true
      this.#throttled = setTimeout(() => {
        this.#isHeld = false
        this.#store(writer, body, message)
        this.#options.onSettled()
      }, throttledMs)
    } else {
      this.#settle(message, taken.reason)
    }
  }

  #settle({ qos, acknowledge }: Message, rejection: RejectionReason | undefined): void {
    // At QoS 0 nobody would send it again.
    if (rejection !== undefined && qos > 0 && retryable.has(rejection)) {
      this.#refuse('not_stored', rejection)
      return
    }
    if (rejection !== undefined) this.#options.meter.rejected(rejection)
    acknowledge()
    this.#options.onSettled()
  }

  #refuse(fault: Fault, rejection: RejectionReason): void {
    this.#options.meter.rejected(rejection)
    if (!this.#isClosed) this.#options.onRefused(fault)
  }
}

/** Why no reading of the device will be stored; what else stands against it, the intake says. */
function refusalOf(device: ReturnType<Writer['find']>, maker?: Pick<Writer, 'mayCreateDevices'>) {
  if (device === 'DEVICE_FORBIDDEN') return 'mismatch'
  return device === 'DEVICE_UNKNOWN' && maker?.mayCreateDevices !== true ? 'unknown_device' : undefined
}
