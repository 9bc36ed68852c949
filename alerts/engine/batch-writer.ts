/**
 * Commits the engine's changes in batches: a failed one is retried under the same number until PostgreSQL has accepted
 * it. It also tracks the time up to which all received readings are committed.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import { isRefusal } from '../../store/postgres/postgres-errors.ts'
import type { Transition } from '../store/apply.ts'

/** Writes of the engine's work. Each of these is one transaction. */
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
  readonly log: Pick<Log, 'error' | 'warn' | 'info'>
  /** Number of the last batch that was applied. */
  readonly lastBatch: number
  readonly applied: (unknownRules: readonly number[]) => void
  readonly signal: AbortSignal
  readonly retryMs?: number
}

type Part =
  | { readonly ok: true; readonly unknownRules: readonly number[] }
  | { readonly ok: false; readonly error: unknown }

const writeEveryMs = 10_000
/** One a minute. */
const attemptsPerLine = 60

export class BatchWriter {
  readonly #options: BatchWriterOptions
  #batch: number
  #pending = 0
  #untilMs = Number.NEGATIVE_INFINITY
  #writtenUntilMs = Number.NEGATIVE_INFINITY
  #writtenAtMs = Number.NEGATIVE_INFINITY
  #writing: Promise<void> = Promise.resolve()
  #refused = 0

  constructor(options: BatchWriterOptions) {
    this.#options = options
    this.#batch = options.lastBatch
  }

  /** Number of changes on their way to PostgreSQL. */
  get pending(): number {
    return this.#pending
  }

  /** Changes whose content PostgreSQL refuses. */
  get refused(): number {
    return this.#refused
  }

  /** One after the other. With it, all that was received up to then. */
  write(transitions: readonly Transition[], untilMs: number): void {
    this.#pending += transitions.length
    this.#writing = this.#writing.then(() => this.#apply(transitions, untilMs))
  }

  async #apply(transitions: readonly Transition[], untilMs: number): Promise<void> {
    const evaluatedUntilMs = Number.isFinite(untilMs) ? untilMs : undefined
    const applied = await this.#applyAll(transitions, evaluatedUntilMs)
    if (applied === undefined) return
    this.#pending -= transitions.length
    if (evaluatedUntilMs !== undefined) {
      this.#untilMs = evaluatedUntilMs
      if (applied.isWritten) this.#writtenUntilMs = evaluatedUntilMs
    }
    this.#options.applied([...applied.unknownRules])
  }

  /**
   * Halves a refused batch until a single change is left, which is dropped, so that it does not block others. The last part also
   * writes the time up to which all is evaluated. Undefined after the end.
   */
  async #applyAll(transitions: readonly Transition[], evaluatedUntilMs: number | undefined) {
    const unknownRules = new Set<number>()
    let isWritten = false
    const waiting = [transitions]
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const applied = await this.#applyPart(part, waiting.length === 0 ? evaluatedUntilMs : undefined)
      if (applied === undefined) return undefined
      isWritten = applied.ok
      if (applied.ok) for (const rule of applied.unknownRules) unknownRules.add(rule)
      else if (part.length > 1) waiting.unshift(...halvesOf(part))
      else this.#refuse(part, applied.error)
    }
    return { unknownRules, isWritten }
  }

  /** Retries until it succeeds; undefined after the end. */
  async #applyPart(
    transitions: readonly Transition[],
    evaluatedUntilMs: number | undefined,
  ): Promise<Part | undefined> {
    const { store, log, signal, retryMs = 1000 } = this.#options
    // The batch has other changes than the one before.
    const batch = ++this.#batch
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        const { unknownRules } = await store.apply({ batch, transitions, evaluatedUntilMs })
        if (attempt > 0) log.info({ transitions: transitions.length }, 'changes of alerts are written again')
        return { ok: true, unknownRules }
      } catch (error) {
        if (isRefusal(error)) return { ok: false, error }
        if (attempt % attemptsPerLine === 0)
          log.warn({ err: error, transitions: transitions.length }, 'changes of alerts cannot be written; they wait')
        await sleep(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
    return undefined
  }

  #refuse([transition]: readonly Transition[], error: unknown): void {
    this.#refused++
    const { rule, device, effects = [] } = transition ?? {}
    const kinds = effects.map(({ kind }) => kind)
    this.#options.log.error(
      { err: error, rule, device, effects: kinds },
      'PostgreSQL refuses a change of an alert; it is left out',
    )
  }

  /** Nothing waits that was received before. */
  evaluated(untilMs: number): void {
    if (this.#pending === 0 && Number.isFinite(untilMs)) this.#untilMs = untilMs
  }

  /** Writes the time of evaluation at intervals. The caller calls this often. */
  look(monotonicMs: number): void {
    if (monotonicMs - this.#writtenAtMs < writeEveryMs || this.#pending > 0) return
    this.#writtenAtMs = monotonicMs
    this.#writing = this.#writing.then(() => this.#writeUntil())
  }

  async #writeUntil(): Promise<void> {
    const untilMs = this.#untilMs
    if (untilMs === this.#writtenUntilMs || this.#pending > 0 || !Number.isFinite(untilMs)) return
    try {
      await this.#options.store.writeEvaluatedUntil(untilMs)
      this.#writtenUntilMs = untilMs
    } catch {
      // It is written with the next batch, or ten seconds later.
    }
  }

  /** Resolves when all that was given before is committed, or the writer is ended. */
  async settled(): Promise<void> {
    await this.#writing
  }

  /** Waits for pending writes and writes the last time of evaluation. */
  async finish(): Promise<void> {
    await this.#writing
    await this.#writeUntil()
  }
}

function halvesOf(transitions: readonly Transition[]): [readonly Transition[], readonly Transition[]] {
  const middle = Math.ceil(transitions.length / 2)
  return [transitions.slice(0, middle), transitions.slice(middle)]
}
