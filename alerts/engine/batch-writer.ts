/**
 * Commits what the engine says, one lot after the other: until PostgreSQL has taken one, it is tried again, under the same number. It
 * also keeps up to when all that was received is committed.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import type { Transition } from '../store/apply.ts'

/** What is written of the engine's work; each of these is one transaction. */
export interface EngineStore {
  /** A batch whose number was applied before changes nothing. */
  apply(batch: {
    batch: number
    transitions: readonly Transition[]
    evaluatedUntilMs: number | undefined
  }): Promise<{ unknownRules: readonly number[] }>
  writeEvaluatedUntil(evaluatedUntilMs: number): Promise<void>
}

export interface BatchWriterOptions {
  readonly store: EngineStore
  readonly log: Pick<Log, 'warn' | 'info'>
  /** Number of the last batch that was applied. */
  readonly lastBatch: number
  readonly applied: (unknownRules: readonly number[]) => void
  readonly signal: AbortSignal
  readonly retryMs?: number
}

const writeEveryMs = 10_000
/** One a minute. */
const attemptsPerLine = 60

export class BatchWriter {
  readonly #options: BatchWriterOptions
  #batch: number
  #pending: readonly Transition[] = []
  #untilMs = Number.NEGATIVE_INFINITY
  #writtenUntilMs = Number.NEGATIVE_INFINITY
  #writtenAtMs = Number.NEGATIVE_INFINITY
  #writing: Promise<void> = Promise.resolve()

  constructor(options: BatchWriterOptions) {
    this.#options = options
    this.#batch = options.lastBatch
  }

  /** On their way to PostgreSQL. */
  get pending(): number {
    return this.#pending.length
  }

  /** The lot before is committed. With it, all that was received up to then. */
  write(transitions: readonly Transition[], untilMs: number): void {
    this.#pending = transitions
    this.#batch++
    this.#writing = this.#writing.then(() => this.#apply(transitions, untilMs))
  }

  async #apply(transitions: readonly Transition[], untilMs: number): Promise<void> {
    const { store, log, signal, applied, retryMs = 1000 } = this.#options
    const evaluatedUntilMs = Number.isFinite(untilMs) ? untilMs : undefined
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        const { unknownRules } = await store.apply({ batch: this.#batch, transitions, evaluatedUntilMs })
        if (attempt > 0) log.info({ transitions: transitions.length }, 'changes of alerts are written again')
        this.#pending = []
        if (evaluatedUntilMs !== undefined) this.#committed(evaluatedUntilMs)
        applied(unknownRules)
        return
      } catch (error) {
        if (attempt % attemptsPerLine === 0)
          log.warn({ err: error, transitions: transitions.length }, 'changes of alerts cannot be written; they wait')
        await sleep(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  #committed(untilMs: number): void {
    this.#untilMs = untilMs
    this.#writtenUntilMs = untilMs
  }

  /** Nothing waits that was received before. */
  evaluated(untilMs: number): void {
    if (this.#pending.length === 0 && Number.isFinite(untilMs)) this.#untilMs = untilMs
  }

  /** To be called often: writes it now and then. */
  look(monotonicMs: number): void {
    if (monotonicMs - this.#writtenAtMs < writeEveryMs || this.#pending.length > 0) return
    this.#writtenAtMs = monotonicMs
    this.#writing = this.#writing.then(() => this.#writeUntil())
  }

  async #writeUntil(): Promise<void> {
    const untilMs = this.#untilMs
    if (untilMs === this.#writtenUntilMs || this.#pending.length > 0 || !Number.isFinite(untilMs)) return
    try {
      await this.#options.store.writeEvaluatedUntil(untilMs)
      this.#writtenUntilMs = untilMs
    } catch {
      // It is written with the next batch, or ten seconds later.
    }
  }

  /** When nothing is on its way; the last moment is written too. */
  async finish(): Promise<void> {
    await this.#writing
    await this.#writeUntil()
  }
}
