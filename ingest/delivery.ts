/**
 * Brings the rows of a round to QuestDB: the parts over their connections, each with one request at a time, the same bytes
 * again until they are taken. A row that is refused for itself is found by halving and put aside, and the rest goes in.
 */

import type { QuestdbConnection, WriteAnswer } from './questdb.ts'
import { cutSlice, type Slice, SliceEncoder } from './slices.ts'

export interface Round {
  bytes: Uint8Array
  view: DataView
  parts: Part[]
  /** Numbers of the devices that have rows in it; one may be named twice. */
  devices: Iterable<number>
  /** Some of the rows bring their own time, so that a later value for the same device and time may come. */
  hasClientTimes: boolean
  /** The time of its oldest row; Infinity when it has none. */
  oldestUs: number
  /** Where the record at this offset stands in the journal. */
  positionOf: (offset: number) => number
}

/** Offsets of records in the order in which they are sent over one connection; -1 is left out. */
export interface Part {
  connection: number
  offsets: Int32Array
  count: number
}

/** `stuck`: QuestDB takes nothing at present, and the round is to be planned again. `closed`: we are stopping. */
export type Delivered = 'sent' | 'stuck' | 'closed'

export interface DeliveryOptions {
  connections: QuestdbConnection[]
  /** Bytes of one request. */
  requestBytes: number
  /** Resolves after the time, or at once when the forwarder closes. */
  sleep: (ms: number) => Promise<void>
  random: () => number
  /** Resolves when QuestDB can no longer be at work on a request that it left without an answer. */
  outwait: () => Promise<void>
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
  /** Requests that were taken. */
  #stored = 0
  readonly #suspicions = new WeakMap<Round, number>()
  /** A row of the part that was taken. */
  readonly #witnesses = new WeakMap<Part, number>()
  /** Rows that were taken. */
  rows = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#encoders = options.connections.map(() => new SliceEncoder())
  }

  async deliver(round: Round): Promise<Delivered> {
    const sending = this.#options.connections.map((_, connection) => this.#sendOver(connection, round))
    const outcomes = await Promise.all(sending)
    return outcomes.find(outcome => outcome !== 'sent') ?? 'sent'
  }

  /** The round's parts for one connection, one after the other. */
  async #sendOver(connection: number, round: Round): Promise<Delivered> {
    for (const part of round.parts.filter(part => part.connection === connection)) {
      for (let from = 0; from < part.count; ) {
        const slice = this.#cut(round, part, from)
        const outcome = await this.#sendSlice(slice, patience)
        if (outcome !== 'sent') return outcome
        from = slice.to
      }
    }
    return 'sent'
  }

  /** Sends a slice until its rows are taken or one of them is at fault. */
  async #sendSlice(slice: Slice, attemptsMax: number): Promise<Delivered> {
    for (let attempt = 1; ; attempt++) {
      if (this.#options.isClosed()) return 'closed'
      const answer = await this.#write(slice)
      if (answer.kind === 'stored') return 'sent'
      const suspicion = await this.#suspicionOf(slice, answer, attempt >= attemptsMax)
      if (suspicion !== undefined) return this.#halve(slice, suspicion)
      await this.#options.sleep(backoffMs(attempt, this.#options.random()))
    }
  }

  /** Why a row of the slice may be at fault; undefined when the same bytes are to be sent again. */
  async #suspicionOf({ round }: Slice, answer: WriteFailure, isLast: boolean): Promise<Suspicion | undefined> {
    if (answer.kind === 'unanswered') {
      // If these rows were taken after newer ones, they would undo them. So nothing newer is sent in the meantime.
      if (round.hasClientTimes) await this.#options.outwait()
      return undefined
    }
    if (answer.kind === 'failed') {
      const mayBeRow = answer.status === internalError && isLast
      return mayBeRow ? { reason: `${answer.status} ${answer.message}`, certain: false } : undefined
    }
    const fault = await this.#schemaFault()
    if (fault === undefined) return { reason: answer.message, certain: true }
    this.#options.onFault(fault)
    return undefined
  }

  /** Some row of the slice is at fault: certainly, when QuestDB said so, else perhaps. */
  async #halve(slice: Slice, suspicion: Suspicion): Promise<Delivered> {
    const { from, to } = slice
    if (to - from === 1) return this.#judge(slice, suspicion)
    if (!suspicion.certain && this.#suspect(slice.round) > suspicionsMax) return 'stuck'
    const middle = (from + to) >> 1
    const first = { ...slice, to: middle }
    const storedNow = this.#stored
    let firstOutcome = await this.#sendPiece(first)
    const secondOutcome = await this.#sendPiece({ ...slice, from: middle })
    // Others have passed in the meantime: what did not is looked at again in that light.
    if (firstOutcome === 'stuck' && this.#stored > storedNow) firstOutcome = await this.#sendPiece(first)
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
      const other = await this.#write(this.#cut(round, part, witness, witness + 1))
      const suspect = await this.#write(this.#cut(round, part, from, from + 1))
      const isOpen = other.kind === 'unanswered' || suspect.kind === 'unanswered'
      if (isOpen && round.hasClientTimes) await this.#options.outwait()
      if (other.kind !== 'stored' || suspect.kind !== 'failed' || suspect.status !== internalError) return false
    }
    return true
  }

  #sendPiece({ round, part, from, to }: Slice): Promise<Delivered> {
    const slice = this.#cut(round, part, from, to)
    return this.#sendSlice(slice, to - from === 1 ? patience : 1)
  }

  #cut(round: Round, part: Part, from: number, to?: number): Slice {
    return cutSlice(round, part, from, this.#options.requestBytes, to)
  }

  async #write(slice: Slice): Promise<WriteAnswer> {
    const { part, from, rows } = slice
    if (rows === 0) return { kind: 'stored' }
    const connection = this.#options.connections[part.connection]
    const encoder = this.#encoders[part.connection]
    if (!(connection && encoder)) throw new Error(`there is no connection ${part.connection}`)
    const answer = await connection.write(encoder.body(slice))
    if (answer.kind === 'stored') {
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
