/**
 * Brings the rows of a round to QuestDB: each part over its own connection, one request at a time, the same bytes again
 * until they are taken. A row that is refused for itself is found by halving and put aside, and the rest goes in.
 */

import type { QuestdbConnection, WriteAnswer } from './questdb.ts'
import { ReadingRows, rowBytesMax } from './rows.ts'

export interface Round {
  bytes: Uint8Array
  view: DataView
  parts: Part[]
  /** Some of the rows bring their own time, so that a later value for the same device and time may come. */
  hasClientTimes: boolean
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

/** Rows of a part that stand encoded in a buffer. */
interface Slice {
  round: Round
  part: Part
  from: number
  to: number
  buffer: ReadingRows
}

export class Delivery {
  readonly #options: DeliveryOptions
  /** Two for each connection: while one is on its way, the next rows are encoded into the other. */
  readonly #buffers: [ReadingRows, ReadingRows][]
  /** Requests that were taken. */
  #stored = 0
  #suspicions = 0
  /** A row of the round that was taken. */
  #witness: { part: Part; index: number } | undefined
  /** Rows that were taken. */
  rows = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
    const createBuffer = () => new ReadingRows(options.requestBytes)
    this.#buffers = options.connections.map(() => [createBuffer(), createBuffer()])
  }

  async deliver(round: Round): Promise<Delivered> {
    this.#suspicions = 0
    this.#witness = undefined
    const outcomes = await Promise.all(round.parts.map(part => this.#sendPart(round, part)))
    return outcomes.find(outcome => outcome !== 'sent') ?? 'sent'
  }

  async #sendPart(round: Round, part: Part): Promise<Delivered> {
    const [buffer, spare] = this.#buffersOf(part)
    let slice = encodeFrom(round, part, 0, buffer)
    while (slice.from < part.count) {
      const sending = this.#sendSlice(slice, patience)
      // The request is handed to the socket before the processor is taken for the next one.
      await new Promise(resolve => setImmediate(resolve))
      const next = encodeFrom(round, part, slice.to, slice.buffer === buffer ? spare : buffer)
      const outcome = await sending
      if (outcome !== 'sent') return outcome
      slice = next
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
    if (!suspicion.certain && ++this.#suspicions > suspicionsMax) return 'stuck'
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
  async #isGuilty({ round, part, from, buffer }: Slice): Promise<boolean> {
    const witness = this.#witness
    if (witness === undefined || witness.part !== part) return false
    for (let turn = 0; turn < turnsOfProof; turn++) {
      const other = await this.#write(encodeFrom(round, part, witness.index, buffer, witness.index + 1))
      const suspect = await this.#write(encodeFrom(round, part, from, buffer, from + 1))
      if (other.kind !== 'stored' || suspect.kind !== 'failed' || suspect.status !== internalError) return false
    }
    return true
  }

  #sendPiece({ round, part, from, to, buffer }: Slice): Promise<Delivered> {
    const slice = encodeFrom(round, part, from, buffer, to)
    return this.#sendSlice(slice, to - from === 1 ? patience : 1)
  }

  async #write({ part, from, to, buffer }: Slice): Promise<WriteAnswer> {
    if (buffer.length === 0) return { kind: 'stored' }
    const connection = this.#options.connections[part.connection]
    if (connection === undefined) throw new Error(`there is no connection ${part.connection}`)
    const answer = await connection.write(buffer.bytes.subarray(0, buffer.length))
    if (answer.kind === 'stored') {
      this.#stored++
      this.#witness = { part, index: from }
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

  #buffersOf(part: Part): [ReadingRows, ReadingRows] {
    const buffers = this.#buffers[part.connection]
    if (buffers === undefined) throw new Error(`there is no connection ${part.connection}`)
    return buffers
  }
}

/** As many rows from `from` to `end` as fit into the buffer. */
function encodeFrom(round: Round, part: Part, from: number, buffer: ReadingRows, end = part.count): Slice {
  const lengthMax = buffer.bytes.length - rowBytesMax
  const { bytes, view } = round
  buffer.length = 0
  let to = from
  while (to < end && buffer.length <= lengthMax) {
    const offset = part.offsets[to++] as number
    if (offset >= 0) buffer.add(bytes, view, offset)
  }
  return { round, part, from, to, buffer }
}

function backoffMs(attempt: number, random: number): number {
  const ms = Math.min(backoffMsMax, backoffMsMin * 2 ** (attempt - 1))
  return ms * (0.5 + random / 2)
}
