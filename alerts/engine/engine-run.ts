/**
 * The evaluation while this process does it: from the states of the last run, over the readings that were stored since, to those
 * that come in.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Live } from '../../live/live.ts'
import type { Log } from '../../store/log.ts'
import { bounds } from '../core/bounds.ts'
import { metricOf } from '../core/condition.ts'
import type { EndReason, Observation } from '../core/observation.ts'
import type { Rule } from '../core/rule.ts'
import { BatchWriter, type EngineStore } from './batch-writer.ts'
import { deviceFactsOf } from './device-facts.ts'
import { packFacts } from './device-times.ts'
import { type EngineHandle, startEngineThread } from './engine-handle.ts'
import type { EngineMessage, EngineState, RestoredPair } from './engine-messages.ts'
import { furtherColumn } from './engine-rule.ts'
import type { Replay } from './evaluator.ts'
import { createOutageWatch } from './outage-watch.ts'
import type { PackedReadings } from './packed-readings.ts'
import { packedMax, ReadingIntake, type TakenReadings } from './reading-intake.ts'
import { lastReadings, type ReplayParts, storedReadings } from './replay.ts'
import { replayPlans } from './replay-plan.ts'
import type { CoverageChange, RuleCoverage } from './rule-coverage.ts'
import { engineRuleOf, furtherSeriesOf, isOfValues } from './value-columns.ts'

export interface EngineRunOptions extends ReplayParts {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly monotonicMs: () => number
  /** Whether no readings are taken, or those that are taken are not known here. */
  readonly isOut: () => boolean
  /** Whether QuestDB answers, and the state of the fleet is known. */
  readonly isSettled: () => boolean
  /** Of all readings that were taken up to now: whether QuestDB shows them. */
  readonly markTaken: () => () => boolean
  readonly live: Pick<Live, 'latest' | 'silenceOf'>
  readonly store: EngineStore & {
    readonly readRow: () => Promise<{ evaluatedUntilMs: number | null; batch: number }>
    readonly readPairs: () => AsyncIterable<readonly RestoredPair[]>
  }
  readonly rules: ReadonlyMap<number, Rule>
  readonly coverage: RuleCoverage
  readonly applied: (unknownRules: readonly number[]) => void
  /** It cannot go on. */
  readonly failed: (error: Error) => void
}

const tickMs = 100
/** That wait for the thread, or for the replay. */
const readingsMax = 1_000_000
const retryMs = 1000
const dayMs = 86_400_000
const finishMsMax = 5000
const factsPerMessage = 2000

export class EngineRun {
  readonly #options: EngineRunOptions
  readonly #closing = new AbortController()
  readonly #intake = new ReadingIntake(readingsMax)
  readonly #outages: ReturnType<typeof createOutageWatch>
  readonly #thread: EngineHandle
  readonly #running: Promise<void>
  readonly #timer: NodeJS.Timeout
  #writer: BatchWriter | undefined
  #isLive = false
  /** All that was taken up to then was told. */
  #heardMs: number
  #state: EngineState = { untilMs: Number.NEGATIVE_INFINITY, waiting: 0, pairs: 0, merged: 0 }
  #isMissing = false
  #lastOutageMs: number

  /** From now on it is told all readings. */
  constructor(options: EngineRunOptions) {
    const { nowMs, monotonicMs, isOut, failed } = options
    this.#options = options
    this.#heardMs = nowMs()
    this.#lastOutageMs = this.#heardMs
    this.#outages = createOutageWatch({ nowMs, monotonicMs, isOut })
    this.#thread = startEngineThread({ onMessage: message => this.#heard(message), onError: failed })
    this.#thread.post({ kind: 'outage', isOut: true, nowMs: this.#heardMs })
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#running = this.#run().catch(error => {
      if (!this.#closing.signal.aborted) failed(error as Error)
    })
  }

  get isLive(): boolean {
    return this.#isLive
  }

  /** Changes that are not committed yet. */
  get backlog(): number {
    return this.#state.waiting + (this.#writer?.pending ?? 0)
  }

  /** Until then readings may not have come in for reasons of our own. */
  get lastOutageMs(): number {
    return this.#lastOutageMs
  }

  get state(): EngineState {
    return this.#state
  }

  /** Readings that were left out when too many waited; they are read again. */
  get dropped(): number {
    return this.#intake.dropped
  }

  async #run(): Promise<void> {
    const { store, log, rules, coverage, applied } = this.#options
    const { signal } = this.#closing
    const { evaluatedUntilMs, batch } = await this.#retried(() => store.readRow())
    const told = (unknownRules: readonly number[]) => {
      this.#thread.post({ kind: 'applied' })
      applied(unknownRules)
    }
    this.#writer = new BatchWriter({ store, log, lastBatch: batch, applied: told, signal })
    for (const rule of rules.values()) {
      this.setRule(rule, { added: coverage.devicesOf(rule.id), removed: [], reason: 'not_selected' })
    }
    await this.#retried(async () => {
      for await (const pairs of store.readPairs()) this.#thread.post({ kind: 'restore', pairs })
    })
    let fromMs = evaluatedUntilMs ?? this.#heardMs
    for (;;) {
      await this.#catchUp(fromMs)
      await this.#until(() => this.#isMissing || this.#intake.takeDropped())
      this.#isMissing = false
      this.#isLive = false
      // Until all is known again, nobody is silent.
      this.#thread.post({ kind: 'outage', isOut: true, nowMs: this.#options.nowMs() })
      if (Number.isFinite(this.#state.untilMs)) fromMs = this.#state.untilMs
      log.warn({ from: new Date(fromMs) }, 'alerts are evaluated again by the stored readings: some were not told')
    }
  }

  /** Reads what was received since then, and goes on with what is taken. */
  async #catchUp(sinceMs: number): Promise<void> {
    const { log, nowMs, isSettled, markTaken, rules, coverage } = this.#options
    const isShown = markTaken()
    await this.#until(() => isSettled() && isShown())
    // Our clock may have been set back meanwhile.
    const fromMs = Math.min(Math.max(sinceMs, nowMs() - dayMs), nowMs()) - bounds.replaySlackMs
    await this.#retried(() => this.#replay(fromMs))
    this.#tellFacts([...new Set([...rules.keys()].flatMap(id => coverage.devicesOf(id)))])
    this.#thread.post({ kind: 'outage', isOut: this.#options.isOut(), nowMs: nowMs() })
    this.#isLive = true
    this.#send()
    log.info({ rules: rules.size, pairs: coverage.pairCount }, 'alerts are evaluated')
  }

  async #replay(fromMs: number): Promise<void> {
    const { rules, coverage, nowMs } = this.#options
    // Clocks may be ahead.
    for (const plan of replayPlans(rules.values(), id => coverage.devicesOf(id), { fromMs, toMs: nowMs() + dayMs })) {
      await this.#replayAll(lastReadings(plan, this.#options), { fromMs: nowMs() })
      await this.#replayAll(storedReadings(plan, this.#options, this.#closing.signal), { warmBeforeUs: fromMs * 1000 })
    }
  }

  async #replayAll(readings: AsyncIterable<PackedReadings>, replay: Partial<Replay> = {}): Promise<void> {
    for await (const packed of readings) {
      this.#thread.post({ kind: 'replay', packed, warmBeforeUs: Number.NEGATIVE_INFINITY, ...replay })
      await this.#thread.settled()
    }
  }

  async #retried<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (this.#closing.signal.aborted) throw error
        this.#options.log.warn({ err: error }, 'alerts cannot be evaluated yet; it is tried again')
        await sleep(retryMs, undefined, { signal: this.#closing.signal })
      }
    }
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await sleep(tickMs, undefined, { signal: this.#closing.signal })
  }

  #tick(): void {
    const { nowMs, monotonicMs } = this.#options
    const { isOut, hasPaused, steppedMs } = this.#outages.look()
    const now = nowMs()
    if (isOut || hasPaused || steppedMs !== 0 || !this.#isLive) this.#lastOutageMs = now
    if (steppedMs !== 0) {
      this.#thread.post({ kind: 'clock', deltaMs: steppedMs, nowMs: now })
      this.#heardMs = Math.min(this.#heardMs, now)
    }
    if (this.#isLive) {
      if (hasPaused) this.#thread.post({ kind: 'outage', isOut: true, nowMs: now })
      this.#thread.post({ kind: 'outage', isOut, nowMs: now })
      this.#send()
    } else this.#intake.hold()
    // What came while nothing else ran is still on its way, so that a moment counts as heard when the next one is here.
    this.#heardMs = now
    this.#writer?.look(monotonicMs())
  }

  #send(): void {
    let isSent = false
    for (const packed of this.#intake.take()) {
      this.#thread.post({ kind: 'readings', packed, untilMs: this.#heardMs })
      isSent = true
    }
    if (!isSent) this.#thread.post({ kind: 'readings', packed: noReadings(), untilMs: this.#heardMs })
  }

  #heard(message: EngineMessage): void {
    if (message.kind === 'pong') return
    this.#state = message.state
    if (message.kind === 'transitions') this.#writer?.write(message.transitions, message.state.untilMs)
    else {
      this.#intake.answered(message.readings)
      this.#writer?.evaluated(message.state.untilMs)
    }
  }

  take(readings: TakenReadings, receiptMs: number): void {
    this.#intake.add(readings, receiptMs, device => this.#options.coverage.covers(device))
    if (this.#intake.packed < packedMax) return
    if (this.#isLive) this.#send()
    else this.#intake.hold()
  }

  /** There were readings that it was not told. */
  missed(): void {
    this.#isMissing = true
  }

  /** New, or changed in what its evaluation depends on. */
  setRule(rule: Rule, change: CoverageChange): void {
    this.#thread.post({ kind: 'rule', rule: engineRuleOf(rule) })
    this.coverageChanged(rule, change)
  }

  coverageChanged(rule: Rule, { added, removed, reason }: CoverageChange): void {
    const { id } = rule
    const nowMs = this.#options.nowMs()
    if (removed.length > 0) this.#thread.post({ kind: 'uncover', id, devices: Int32Array.from(removed), reason, nowMs })
    if (added.length === 0) return
    this.#thread.post({ kind: 'cover', id, devices: Int32Array.from(added), series: this.#seriesOf(rule, added) })
    if (!this.#isLive) return
    this.#tellFacts(added)
    const metric = isOfValues(rule) ? metricOf(rule.condition) : undefined
    if (metric === undefined) return
    const plan = { devices: added, metrics: [metric], fromMs: Number.POSITIVE_INFINITY, toMs: nowMs }
    void this.#replayAll(lastReadings(plan, this.#options), { rules: new Set([id]), fromMs: nowMs }).catch(
      this.#options.failed,
    )
  }

  #seriesOf(rule: Rule, devices: readonly number[]): Int32Array | undefined {
    if (engineRuleOf(rule).column !== furtherColumn) return undefined
    const metric = metricOf(rule.condition) as string
    return Int32Array.from(devices, number => furtherSeriesOf(this.#options.devices, number, metric))
  }

  removeRule(id: number, reason: EndReason): void {
    this.#thread.post({ kind: 'removeRule', id, reason, nowMs: this.#options.nowMs() })
  }

  observe(rule: number, device: number, observation: Observation): void {
    if (this.#isLive) this.#thread.post({ kind: 'observe', rule, device, observation })
  }

  /** How long these may be silent, as it is known now. */
  #tellFacts(numbers: readonly number[]): void {
    const { live, nowMs } = this.#options
    const queued = this.#intake.oldest()
    const now = nowMs()
    for (let from = 0; from < numbers.length; from += factsPerMessage) {
      const facts = numbers.slice(from, from + factsPerMessage).flatMap(number => {
        return deviceFactsOf(number, live.silenceOf(number), { nowMs: now, queuedUs: queued.get(number) }) ?? []
      })
      this.#thread.post({ kind: 'devices', facts: packFacts(facts) })
    }
  }

  /** Of devices that a rule covers: cadences change, and a device may have got a series for the rule's metric. */
  refresh(rule: Rule, devices: readonly number[]): void {
    if (!this.#isLive) return
    const series = this.#seriesOf(rule, devices)
    if (series !== undefined)
      this.#thread.post({ kind: 'cover', id: rule.id, devices: Int32Array.from(devices), series })
    this.#tellFacts(devices)
  }

  /** What was taken is evaluated and committed, if PostgreSQL takes it soon; else it is found again at the next start. */
  async close(isLeading = true): Promise<void> {
    clearInterval(this.#timer)
    const deadlineMs = performance.now() + finishMsMax
    if (this.#isLive && isLeading) await this.#finish(deadlineMs)
    this.#closing.abort()
    await this.#running
    await this.#thread.stop()
  }

  async #finish(deadlineMs: number): Promise<void> {
    this.#heardMs = this.#options.nowMs()
    this.#send()
    this.#thread.post({ kind: 'flush' })
    await this.#thread.settled()
    while (this.backlog > 0 && performance.now() < deadlineMs) {
      await sleep(20)
      this.#thread.post({ kind: 'flush' })
      await this.#thread.settled()
    }
    if (this.backlog === 0) await this.#writer?.finish()
  }
}

function noReadings(): PackedReadings {
  return { count: 0, numbers: new Float64Array(0), furtherCount: 0, further: new Float64Array(0) }
}
