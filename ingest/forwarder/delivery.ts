/**
 * Delivers the rows of a batch to QuestDB: its parts over their connections, each with one request at a time. The same bytes are
 * retried until they are accepted. A rejected request is bisected until the poison row is found. That row becomes a dead letter,
 * and the rest is accepted.
 */

import { bug } from '../../store/limits/bug.ts'
import type { Batch, Part } from './batch.ts'
import type { QuestdbConnection, WriteAnswer } from './questdb.ts'
import type { RowFormat } from './row-format.ts'
import { cutRequest, RequestEncoder, type WriteRequest } from './write-request.ts'

/** Outcome of one request. `resize`: its rows have to be sent in smaller ones. */
type Sent = Delivered | 'resize'

/** `stuck`: QuestDB accepts nothing at present, and the batch has to be planned again. `closed`: the forwarder is stopping. */
type Delivered = 'sent' | 'stuck' | 'closed'

interface DeliveryOptions {
  format: RowFormat
  connections: QuestdbConnection[]
  /** Size limit of one request. */
  requestBytes: number
  monotonicMs: () => number
  /** Resolves after the time, or at once when the forwarder closes. */
  sleep: (ms: number) => Promise<void>
  random: () => number
  /** Resolves when QuestDB can no longer be processing an unanswered request. */
  quiesce: () => Promise<void>
  isClosed: () => boolean
  /** Returns a fault of the table's schema, by which QuestDB would reject every row. */
  findSchemaError: () => Promise<string | undefined>
  /** Stores a record as a dead letter. Returns false beyond the limit. */
  addDeadLetter: (batch: Batch, offset: number, reason: string) => boolean
  /** Called with every failure, and with undefined when rows are accepted again. */
  onIssue: (issue: string | undefined) => void
  /** Called instead with a failure that may mean that QuestDB is unavailable. */
  onUnavailable: (issue: string) => void
}

const backoffMsMin = 100
const backoffMsMax = 5000
/** The only status that our own bytes can cause. Other 5xx come from a busy server or a proxy. */
const internalError = 500
/** A proxy rejects requests of this size. */
const contentTooLarge = 413
/** Attempts of a request before it is bisected, and of a single row before it may be poison. */
const attemptsBeforeBisect = 3
/** Splits of one batch for a 500. Where all requests fail, the server is the cause. */
const uncertainSplitsMax = 200
/** Number of times that a control row has to pass, and the suspected row to fail. */
const controlRuns = 3

type WriteFailure = Exclude<WriteAnswer, { kind: 'stored' }>

/** Reason why a row of a request may be poison; `certain` when QuestDB reported that. */
interface RowError {
  reason: string
  certain: boolean
}

export class Delivery {
  readonly #options: DeliveryOptions
  /** One for each connection. */
  readonly #encoders: RequestEncoder[]
  readonly #size: RequestSize
  /** Accepted requests. */
  #stored = 0
  readonly #uncertainSplits = new WeakMap<Batch, number>()
  /** An accepted row of each part. */
  readonly #controlRows = new WeakMap<Part, number>()
  /** Accepted rows. */
  rows = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#encoders = options.connections.map(() => new RequestEncoder(options.format))
    this.#size = new RequestSize(options.requestBytes)
  }

  async deliver(batch: Batch): Promise<Delivered> {
    const { length } = this.#options.connections
    const lost = batch.parts.find(part => part.connection >= length)
    if (lost !== undefined) throw bug(`${lost.count} rows are for connection ${lost.connection} of ${length}`)
    const sending = this.#options.connections.map((_, connection) => this.#sendOver(connection, batch))
    const outcomes = await Promise.all(sending)
    return outcomes.find(outcome => outcome !== 'sent') ?? 'sent'
  }

  /** Sends the batch's parts for one connection in turn. */
  async #sendOver(connection: number, batch: Batch): Promise<Delivered> {
    for (const part of batch.parts.filter(part => part.connection === connection)) {
      const outcome = await this.#sendRows(batch, part, 0, part.count, attemptsBeforeBisect)
      if (outcome !== 'sent') return outcome
    }
    return 'sent'
  }

  /** Sends the rows `from` to `to` of a part in turn, in requests of the currently allowed size. */
  async #sendRows(batch: Batch, part: Part, from: number, to: number, attemptsMax: number): Promise<Delivered> {
    let next = from
    for (let resized = 0; next < to; ) {
      const request = cutRequest(this.#options.format, batch, part, next, this.#size.bytes, to)
      if (request.to <= next || request.to > to) throw bug(`a request goes from row ${next} to ${request.to}, of ${to}`)
      const outcome = await this.#sendRequest(request, attemptsMax)
      if (outcome === 'resize') {
        await this.#options.sleep(backoffMs(++resized, this.#options.random()))
        continue
      }
      if (outcome !== 'sent') return outcome
      resized = 0
      next = request.to
    }
    return 'sent'
  }

  /** Sends a request until its rows are accepted, one of them may be poison, or it is too large. */
  async #sendRequest(request: WriteRequest, attemptsMax: number): Promise<Sent> {
    for (let attempt = 1; ; attempt++) {
      if (this.#options.isClosed()) return 'closed'
      const answer = await this.#write(request)
      if (answer.kind === 'stored') return 'sent'
      if (await this.#isTooLong(request, answer)) return 'resize'
      const rowError = await this.#rowErrorOf(answer, attempt >= attemptsMax)
      if (rowError !== undefined) return this.#bisect(request, rowError)
      await this.#options.sleep(backoffMs(attempt, this.#options.random()))
    }
  }

  /** Reason why a row of the request may be poison. Undefined when the same bytes have to be retried. */
  async #rowErrorOf(answer: WriteFailure, isLast: boolean): Promise<RowError | undefined> {
    if (answer.kind === 'unanswered') return undefined
    if (answer.kind === 'failed') {
      const mayBeRow = answer.status === internalError && isLast
      return mayBeRow ? { reason: `${answer.status} ${answer.message}`, certain: false } : undefined
    }
    const schemaError = await this.#schemaError()
    if (schemaError === undefined) return { reason: answer.message, certain: true }
    this.#options.onIssue(schemaError)
    return undefined
  }

  /** True when a proxy reports it, or when no answer arrived in time. */
  async #isTooLong({ batch, length }: WriteRequest, answer: WriteFailure): Promise<boolean> {
    if (answer.kind === 'unanswered') {
      this.#size.unanswered(length)
      // These rows could undo newer ones if they were accepted after them. So nothing newer is sent meanwhile.
      if (batch.hasClientTimes) await this.#options.quiesce()
      return true
    }
    const isRefused = answer.kind === 'failed' && answer.status === contentTooLarge
    if (isRefused) this.#size.refused(length)
    return isRefused
  }

  /** Sends both halves of a request separately. A single row is tested. */
  async #bisect(request: WriteRequest, rowError: RowError): Promise<Delivered> {
    const { batch, part, from, to } = request
    if (to - from === 1) return this.#decideRow(request, rowError)
    if (!rowError.certain && this.#countUncertainSplit(request.batch) > uncertainSplitsMax) return 'stuck'
    const middle = (from + to) >> 1
    const storedNow = this.#stored
    let firstOutcome = await this.#sendHalf(batch, part, from, middle)
    const secondOutcome = await this.#sendHalf(batch, part, middle, to)
    // Other rows have passed meanwhile, so the failed half is retried with that knowledge.
    if (firstOutcome === 'stuck' && this.#stored > storedNow) {
      firstOutcome = await this.#sendHalf(batch, part, from, middle)
    }
    return firstOutcome === 'sent' ? secondOutcome : firstOutcome
  }

  async #decideRow(request: WriteRequest, { reason, certain }: RowError): Promise<Delivered> {
    const { batch, part, from } = request
    const offset = part.offsets[from] as number
    if (offset < 0) return 'sent'
    const isPoison = certain || (await this.#isPoisonRow(request))
    return isPoison && this.#options.addDeadLetter(batch, offset, reason) ? 'sent' : 'stuck'
  }

  /**
   * A row with a 500 is poison only when, several times in a row, a control row of the same batch passes and it does not. The
   * control row was accepted before, so sending it again changes nothing.
   */
  async #isPoisonRow({ batch, part, from }: WriteRequest): Promise<boolean> {
    const controlRow = this.#controlRows.get(part)
    if (controlRow === undefined) return false
    for (let run = 0; run < controlRuns; run++) {
      const control = await this.#write(this.#cutRow(batch, part, controlRow))
      const suspect = await this.#write(this.#cutRow(batch, part, from))
      const isOpen = control.kind === 'unanswered' || suspect.kind === 'unanswered'
      if (isOpen && batch.hasClientTimes) await this.#options.quiesce()
      if (control.kind !== 'stored' || suspect.kind !== 'failed' || suspect.status !== internalError) return false
    }
    return true
  }

  #sendHalf(batch: Batch, part: Part, from: number, to: number): Promise<Delivered> {
    return this.#sendRows(batch, part, from, to, to - from === 1 ? attemptsBeforeBisect : 1)
  }

  #cutRow(batch: Batch, part: Part, index: number): WriteRequest {
    return cutRequest(this.#options.format, batch, part, index, this.#options.requestBytes, index + 1)
  }

  async #write(request: WriteRequest): Promise<WriteAnswer> {
    const { part, from, rows } = request
    if (rows === 0) return { kind: 'stored' }
    const connection = this.#options.connections[part.connection]
    const encoder = this.#encoders[part.connection]
    if (!(connection && encoder)) throw new Error(`there is no connection ${part.connection}`)
    const startedMs = this.#options.monotonicMs()
    const answer = await connection.write(encoder.body(request))
    if (answer.kind === 'stored') {
      this.#size.passed(request.length, this.#options.monotonicMs() - startedMs)
      this.#stored++
      this.#rememberControlRow(part, from)
      this.rows += rows
      this.#options.onIssue(undefined)
    } else {
      const isQuestdb = answer.kind === 'refused' || (answer.kind === 'failed' && answer.status === internalError)
      if (isQuestdb) this.#options.onIssue(answer.message)
      else this.#options.onUnavailable(answer.message)
    }
    return answer
  }

  /** Remembers the first row from `from` on that was really sent. */
  #rememberControlRow(part: Part, from: number): void {
    if (this.#controlRows.has(part)) return
    let index = from
    while ((part.offsets[index] as number) < 0) index++
    this.#controlRows.set(part, index)
  }

  #countUncertainSplit(batch: Batch): number {
    const count = (this.#uncertainSplits.get(batch) ?? 0) + 1
    this.#uncertainSplits.set(batch, count)
    return count
  }

  /** Fault of the table's schema, or why QuestDB cannot report it: then no row counts as poison. */
  async #schemaError(): Promise<string | undefined> {
    try {
      return await this.#options.findSchemaError()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}

function backoffMs(attempt: number, random: number): number {
  const ms = Math.min(backoffMsMax, backoffMsMin * 2 ** (attempt - 1))
  return ms * (0.5 + random / 2)
}

/** The size for an unknown link: at 50 kB/s it passes in 20 s, and the maximum is reached after a few requests. */
const firstBytes = 1024 * 1024
/** A slower request is long enough: other requests wait for it. */
const promptMs = 5000
/** Growth above half of a rejected size, so that few requests fail. */
const carefulGrowth = 1 / 16

/**
 * Adapts the size of requests. A slow link, or a proxy with a limit, passes only short requests, while long ones cost QuestDB
 * less per row. So the size is halved when a request fails, and grows again with successful ones.
 */
export class RequestSize {
  readonly #bytesMax: number
  #bytes: number
  #carefulFrom: number

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#bytes = Math.min(firstBytes, bytesMax)
    this.#carefulFrom = bytesMax
  }

  /** A request contains at least one row of any length. */
  get bytes(): number {
    return this.#bytes
  }

  /** The rows of a request of this length were accepted. A short one proves nothing about longer ones. */
  passed(length: number, tookMs: number): void {
    if (length < this.#bytes / 2 || tookMs > promptMs) return
    const growth = this.#bytes < this.#carefulFrom ? 1 : carefulGrowth
    this.#bytes = Math.min(this.#bytesMax, Math.ceil(this.#bytes * (1 + growth)))
  }

  /** A request of this length got no answer. */
  unanswered(length: number): void {
    this.#bytes = Math.min(this.#bytes, half(length))
  }

  /** A request of this length was rejected for its size. */
  refused(length: number): void {
    this.#carefulFrom = half(length)
    this.#bytes = Math.min(this.#bytes, this.#carefulFrom)
  }
}

function half(length: number): number {
  return Math.max(1, Math.floor(length / 2))
}
