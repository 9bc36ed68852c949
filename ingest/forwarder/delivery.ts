/**
 * Brings the rows of a round to QuestDB: the parts over their connections, each with one request at a time, the same bytes
 * again until they are taken. A row that is refused for itself is found by halving and put aside, and the rest goes in.
 */

import { bug } from '../bug.ts'
import type { QuestdbConnection, WriteAnswer } from './questdb.ts'
import { RequestSize } from './request-size.ts'
import type { Part, Round } from './round.ts'
import type { RowFormat } from './rows.ts'
import { cutSlice, type Slice, SliceEncoder } from './slices.ts'

/** What becomes of one request; `resize`: its rows are to go in smaller ones. */
type Sent = Delivered | 'resize'

/** `stuck`: QuestDB takes nothing at present, and the round is to be planned again. `closed`: we are stopping. */
export type Delivered = 'sent' | 'stuck' | 'closed'

export interface DeliveryOptions {
  format: RowFormat
  connections: QuestdbConnection[]
  /** Bytes of one request, at most. */
  requestBytes: number
  monotonicMs: () => number
  /** Resolves after the time, or at once when the forwarder closes. */
  sleep: (ms: number) => Promise<void>
  random: () => number
  /** Resolves when QuestDB can no longer be at work on a request that it left without an answer. */
  quiesce: () => Promise<void>
  isClosed: () => boolean
  /** A fault of the table itself, which would make every row look bad. */
  findSchemaFault: () => Promise<string | undefined>
  /** Puts a record aside; false when no more may be put aside. */
  putAside: (round: Round, offset: number, reason: string) => boolean
  /** Told of every failure, and with undefined when rows are taken again. */
  onFault: (fault: string | undefined) => void
  /** Told instead of a failure that a QuestDB which is away may be the reason of. */
  onAway: (fault: string) => void
}

const backoffMsMin = 100
const backoffMsMax = 5000
/** The one status that bytes of ours can cause; the other 5xx are those of a busy server or of a proxy. */
const internalError = 500
/** A proxy takes no request of this size. */
const contentTooLarge = 413
/** How often the same bytes meet it before the fault is looked for in a row, and a single row before it is blamed. */
const patience = 3
/** Halvings on a mere suspicion, in one round: where nothing passes at all, it is the server. */
const suspicionsMax = 200
const turnsOfProof = 3

type WriteFailure = Exclude<WriteAnswer, { kind: 'stored' }>

interface Suspicion {
  reason: string
  certain: boolean
}

export class Delivery {
  readonly #options: DeliveryOptions
  /** One for each connection. */
  readonly #encoders: SliceEncoder[]
  readonly #size: RequestSize
  /** Requests that were taken. */
  #stored = 0
  readonly #suspicions = new WeakMap<Round, number>()
  /** A row of the part that was taken. */
  readonly #witnesses = new WeakMap<Part, number>()
  /** Rows that were taken. */
  rows = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#encoders = options.connections.map(() => new SliceEncoder(options.format))
    this.#size = new RequestSize(options.requestBytes)
  }

  async deliver(round: Round): Promise<Delivered> {
    const sending = this.#options.connections.map((_, connection) => this.#sendOver(connection, round))
    const outcomes = await Promise.all(sending)
    return outcomes.find(outcome => outcome !== 'sent') ?? 'sent'
  }

  /** The round's parts for one connection, one after the other. */
  async #sendOver(connection: number, round: Round): Promise<Delivered> {
    for (const part of round.parts.filter(part => part.connection === connection)) {
      const outcome = await this.#sendRows(round, part, 0, part.count, patience)
      if (outcome !== 'sent') return outcome
    }
    return 'sent'
  }

  /** Rows `from` up to `to` of a part, one request after the other, each as long as one may be at that time. */
  async #sendRows(round: Round, part: Part, from: number, to: number, attemptsMax: number): Promise<Delivered> {
    let next = from
    for (let resized = 0; next < to; ) {
      const slice = cutSlice(this.#options.format, round, part, next, this.#size.bytes, to)
      if (slice.to <= next || slice.to > to) throw bug(`a request goes from row ${next} to ${slice.to}, of ${to}`)
      const outcome = await this.#sendSlice(slice, attemptsMax)
      if (outcome === 'resize') {
        await this.#options.sleep(backoffMs(++resized, this.#options.random()))
        continue
      }
      if (outcome !== 'sent') return outcome
      resized = 0
      next = slice.to
    }
    return 'sent'
  }

  /** Sends a slice until its rows are taken, one of them is at fault, or it turns out to be too long. */
  async #sendSlice(slice: Slice, attemptsMax: number): Promise<Sent> {
    for (let attempt = 1; ; attempt++) {
      if (this.#options.isClosed()) return 'closed'
      const answer = await this.#write(slice)
      if (answer.kind === 'stored') return 'sent'
      if (await this.#isTooLong(slice, answer)) return 'resize'
      const suspicion = await this.#suspicionOf(answer, attempt >= attemptsMax)
      if (suspicion !== undefined) return this.#halve(slice, suspicion)
      await this.#options.sleep(backoffMs(attempt, this.#options.random()))
    }
  }

  /** Why a row of the slice may be at fault; undefined when the same bytes are to be sent again. */
  async #suspicionOf(answer: WriteFailure, isLast: boolean): Promise<Suspicion | undefined> {
    if (answer.kind === 'unanswered') return undefined
    if (answer.kind === 'failed') {
      const mayBeRow = answer.status === internalError && isLast
      return mayBeRow ? { reason: `${answer.status} ${answer.message}`, certain: false } : undefined
    }
    const fault = await this.#schemaFault()
    if (fault === undefined) return { reason: answer.message, certain: true }
    this.#options.onFault(fault)
    return undefined
  }

  /** It may be: a proxy says so, or there was no answer in time. */
  async #isTooLong({ round, length }: Slice, answer: WriteFailure): Promise<boolean> {
    if (answer.kind === 'unanswered') {
      this.#size.unanswered(length)
      // If these rows were taken after newer ones, they would undo them. So nothing newer is sent in the meantime.
      if (round.hasClientTimes) await this.#options.quiesce()
      return true
    }
    const isRefused = answer.kind === 'failed' && answer.status === contentTooLarge
    if (isRefused) this.#size.refused(length)
    return isRefused
  }

  /** Some row of the slice is at fault: certainly, when QuestDB said so, else perhaps. */
  async #halve(slice: Slice, suspicion: Suspicion): Promise<Delivered> {
    const { round, part, from, to } = slice
    if (to - from === 1) return this.#judge(slice, suspicion)
    if (!suspicion.certain && this.#suspect(slice.round) > suspicionsMax) return 'stuck'
    const middle = (from + to) >> 1
    const storedNow = this.#stored
    let firstOutcome = await this.#sendPiece(round, part, from, middle)
    const secondOutcome = await this.#sendPiece(round, part, middle, to)
    // Others have passed in the meantime: what did not is looked at again in that light.
    if (firstOutcome === 'stuck' && this.#stored > storedNow) {
      firstOutcome = await this.#sendPiece(round, part, from, middle)
    }
    return firstOutcome === 'sent' ? secondOutcome : firstOutcome
  }

  async #judge(slice: Slice, { reason, certain }: Suspicion): Promise<Delivered> {
    const { round, part, from } = slice
    const offset = part.offsets[from] as number
    if (offset < 0) return 'sent'
    const guilty = certain || (await this.#isGuilty(slice))
    return guilty && this.#options.putAside(round, offset, reason) ? 'sent' : 'stuck'
  }

  /**
   * A row is blamed for a 500 only when, in turns and more than once, another row of the same round passes and this one
   * does not. The other one was taken before, so that sending it again changes nothing.
   */
  async #isGuilty({ round, part, from }: Slice): Promise<boolean> {
    const witness = this.#witnesses.get(part)
    if (witness === undefined) return false
    for (let turn = 0; turn < turnsOfProof; turn++) {
      const other = await this.#write(this.#cutRow(round, part, witness))
      const suspect = await this.#write(this.#cutRow(round, part, from))
      const isOpen = other.kind === 'unanswered' || suspect.kind === 'unanswered'
      if (isOpen && round.hasClientTimes) await this.#options.quiesce()
      if (other.kind !== 'stored' || suspect.kind !== 'failed' || suspect.status !== internalError) return false
    }
    return true
  }

  #sendPiece(round: Round, part: Part, from: number, to: number): Promise<Delivered> {
    return this.#sendRows(round, part, from, to, to - from === 1 ? patience : 1)
  }

  #cutRow(round: Round, part: Part, index: number): Slice {
    return cutSlice(this.#options.format, round, part, index, this.#options.requestBytes, index + 1)
  }

  async #write(slice: Slice): Promise<WriteAnswer> {
    const { part, from, rows } = slice
    if (rows === 0) return { kind: 'stored' }
    const connection = this.#options.connections[part.connection]
    const encoder = this.#encoders[part.connection]
    if (!(connection && encoder)) throw new Error(`there is no connection ${part.connection}`)
    const startedMs = this.#options.monotonicMs()
    const answer = await connection.write(encoder.body(slice))
    if (answer.kind === 'stored') {
      this.#size.passed(slice.length, this.#options.monotonicMs() - startedMs)
      this.#stored++
      this.#rememberWitness(part, from)
      this.rows += rows
      this.#options.onFault(undefined)
    } else {
      const isQuestdb = answer.kind === 'refused' || (answer.kind === 'failed' && answer.status === internalError)
      if (isQuestdb) this.#options.onFault(answer.message)
      else this.#options.onAway(answer.message)
    }
    return answer
  }

  /** The first row from `from` on that was really sent. */
  #rememberWitness(part: Part, from: number): void {
    if (this.#witnesses.has(part)) return
    let index = from
    while ((part.offsets[index] as number) < 0) index++
    this.#witnesses.set(part, index)
  }

  #suspect(round: Round): number {
    const count = (this.#suspicions.get(round) ?? 0) + 1
    this.#suspicions.set(round, count)
    return count
  }

  /** A fault of the table, or of the question itself: when QuestDB cannot say, no row is blamed. */
  async #schemaFault(): Promise<string | undefined> {
    try {
      return await this.#options.findSchemaFault()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}

function backoffMs(attempt: number, random: number): number {
  const ms = Math.min(backoffMsMax, backoffMsMin * 2 ** (attempt - 1))
  return ms * (0.5 + random / 2)
}
