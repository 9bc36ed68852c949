/**
 * Brings the rows of a round to QuestDB: each part over its own connection, one request at a time, the same bytes again
 * until they are taken. A row that is refused for itself is found by halving and put aside, and the rest goes in.
 */

import { LineProtocolBuffer } from './line-protocol.ts'
import type { QuestdbConnection, WriteAnswer } from './questdb.ts'
import { encodeRow, rowBytesMax } from './rows.ts'

export interface Round {
  bytes: Uint8Array
  view: DataView
  parts: Part[]
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
  isClosed: () => boolean
  /** A fault of the table itself, which would make every row look bad. */
  findSchemaFault: () => Promise<string | undefined>
  /** Puts a record aside; false when no more may be put aside. */
  putAside: (round: Round, offset: number, reason: string) => boolean
  /** Told of every failure, and with undefined when rows are taken again. */
  onFault: (fault: string | undefined) => void
}

const backoffMsMin = 100
const backoffMsMax = 5000
/** The one status that bytes of ours can cause; the other 5xx are those of a busy server or of a proxy. */
const internalError = 500
/** How often the same bytes meet it before the fault is looked for in a row, and a single row before it is blamed. */
const patience = 3
/** Halvings on a mere suspicion, in one round: where nothing passes at all, it is the server. */
const suspicionsMax = 200

interface Slice {
  round: Round
  part: Part
  from: number
  to: number
}

export class Delivery {
  readonly #options: DeliveryOptions
  readonly #buffers: LineProtocolBuffer[]
  /** Requests that were taken: the proof that others pass while one row does not. */
  #stored = 0
  #suspicions = 0
  /** Rows that were taken. */
  rows = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#buffers = options.connections.map(() => new LineProtocolBuffer(options.requestBytes))
  }

  async deliver(round: Round): Promise<Delivered> {
    this.#suspicions = 0
    const outcomes = await Promise.all(round.parts.map(part => this.#sendPart(round, part)))
    return outcomes.find(outcome => outcome !== 'sent') ?? 'sent'
  }

  async #sendPart(round: Round, part: Part): Promise<Delivered> {
    const buffer = this.#bufferOf(part)
    for (let from = 0; from < part.count; ) {
      buffer.clear()
      let to = from
      while (to < part.count && buffer.free >= rowBytesMax) {
        const offset = part.offsets[to++] as number
        if (offset >= 0) encodeRow(buffer, round.bytes, round.view, offset)
      }
      const outcome = await this.#sendSlice({ round, part, from, to }, patience, this.#stored)
      if (outcome !== 'sent') return outcome
      from = to
    }
    return 'sent'
  }

  /** Sends rows that stand encoded in the connection's buffer, until they are taken or a row is at fault. */
  async #sendSlice(slice: Slice, attemptsMax: number, storedBefore: number): Promise<Delivered> {
    for (let attempt = 1; ; attempt++) {
      if (this.#options.isClosed()) return 'closed'
      const answer = await this.#write(slice)
      if (answer.kind === 'stored') return 'sent'
      if (answer.kind === 'refused') {
        const fault = await this.#schemaFault()
        if (fault === undefined) return this.#halve(slice, answer.message, true, storedBefore)
        this.#options.onFault(fault)
      } else if (answer.status === internalError && attempt >= attemptsMax) {
        return this.#halve(slice, `${answer.status} ${answer.message}`, false, storedBefore)
      }
      await this.#options.sleep(backoffMs(attempt, this.#options.random()))
    }
  }

  /**
   * Some row of the slice is at fault: certainly, when QuestDB said so, else only if other rows pass in the meantime.
   */
  async #halve(slice: Slice, reason: string, certain: boolean, storedBefore: number): Promise<Delivered> {
    const { from, to } = slice
    if (to - from === 1) return this.#judge(slice, reason, certain || this.#stored > storedBefore)
    if (!certain && ++this.#suspicions > suspicionsMax) return 'stuck'
    const middle = (from + to) >> 1
    const first = { ...slice, to: middle }
    const storedNow = this.#stored
    let firstOutcome = await this.#sendPiece(first, storedBefore)
    const secondOutcome = await this.#sendPiece({ ...slice, from: middle }, storedBefore)
    // Others have passed in the meantime: what did not is looked at again in that light.
    if (firstOutcome === 'stuck' && this.#stored > storedNow) firstOutcome = await this.#sendPiece(first, storedBefore)
    return firstOutcome === 'sent' ? secondOutcome : firstOutcome
  }

  #judge({ round, part, from }: Slice, reason: string, guilty: boolean): Delivered {
    const offset = part.offsets[from] as number
    if (offset < 0) return 'sent'
    return guilty && this.#options.putAside(round, offset, reason) ? 'sent' : 'stuck'
  }

  #sendPiece(slice: Slice, storedBefore: number): Promise<Delivered> {
    this.#encode(slice)
    return this.#sendSlice(slice, slice.to - slice.from === 1 ? patience : 1, storedBefore)
  }

  #encode({ round, part, from, to }: Slice): void {
    const buffer = this.#bufferOf(part)
    buffer.clear()
    for (let index = from; index < to; index++) {
      const offset = part.offsets[index] as number
      if (offset >= 0) encodeRow(buffer, round.bytes, round.view, offset)
    }
  }

  async #write({ part, from, to }: Slice): Promise<WriteAnswer> {
    const buffer = this.#bufferOf(part)
    if (buffer.length === 0) return { kind: 'stored' }
    const connection = this.#options.connections[part.connection]
    if (connection === undefined) throw new Error(`there is no connection ${part.connection}`)
    const answer = await connection.write(buffer.bytes.subarray(0, buffer.length))
    if (answer.kind === 'stored') {
      this.#stored++
      this.rows += to - from
      this.#options.onFault(undefined)
    } else {
      this.#options.onFault(answer.message)
    }
    return answer
  }

  /** A fault of the table, or of the question itself: when QuestDB cannot say, no row is blamed. */
  async #schemaFault(): Promise<string | undefined> {
    try {
      return await this.#options.findSchemaFault()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  #bufferOf(part: Part): LineProtocolBuffer {
    const buffer = this.#buffers[part.connection]
    if (buffer === undefined) throw new Error(`there is no connection ${part.connection}`)
    return buffer
  }
}

function backoffMs(attempt: number, random: number): number {
  const ms = Math.min(backoffMsMax, backoffMsMin * 2 ** (attempt - 1))
  return ms * (0.5 + random / 2)
}
