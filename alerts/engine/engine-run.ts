/** One run of the evaluation: it restores states, replays stored readings, and then evaluates new ones. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Live } from '../../query/live/live.ts'
import type { Log } from '../../store/log.ts'
import { metricOf } from '../core/condition.ts'
import type { EndReason, Observation } from '../core/pair.ts'
import type { Rule } from '../core/rule.ts'
import { BatchWriter, type EngineStore } from './batch-writer.ts'
import type { EngineMessage, EngineState } from './engine.ts'
import { type EngineHandle, startEngineThread } from './engine-handle.ts'
import { packedMax, ReadingIntake, type TakenReadings } from './packed-readings.ts'
import type { CoverageChange } from './rule-coverage.ts'
import { RuleFeed } from './rule-feed.ts'
import { createRetryPolicy, type RetryPolicy, StoredReplay, type StoredReplayOptions } from './stored-replay.ts'

export interface EngineRunOptions extends StoredReplayOptions {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly monotonicMs: () => number
  /** True while no readings are accepted, or accepted readings are missing here. */
  readonly isOut: () => boolean
  readonly live: Pick<Live, 'latest' | 'silenceOf'>
  readonly store: StoredReplayOptions['store'] &
    EngineStore & { readonly readRow: () => Promise<{ evaluatedUntilMs: number | null; batch: number }> }
  readonly applied: (unknownRules: readonly number[]) => void
  /** It cannot go on. */
  readonly failed: (error: Error) => void
}

const tickMs = 100
/** Bound of readings that wait for the thread or the replay: a million without custom values. */
const readingBytesMax = 64_000_000
const finishMsMax = 5000

export class EngineRun {
  readonly #options: EngineRunOptions
  readonly #closing = new AbortController()
  readonly #intake = new ReadingIntake(readingBytesMax)
  readonly #outages: ReturnType<typeof createOutageWatch>
  readonly #thread: EngineHandle
  readonly #feed: RuleFeed
  readonly #retries: RetryPolicy
  readonly #replay: StoredReplay
  readonly #running: Promise<void>
  readonly #timer: NodeJS.Timeout
  #writer: BatchWriter | undefined
  #isRestored = false
  #isLive = false
  /** All that was taken up to then is in the intake or on its way. */
  #receivedMs: number
  #state: EngineState = { untilMs: Number.NEGATIVE_INFINITY, waiting: 0, pairs: 0, merged: 0 }
  #isMissing = false
  #lastOutageMs: number

  /** The run gets all readings from its construction on. */
  constructor(options: EngineRunOptions) {
    const { nowMs, failed } = options
    this.#options = options
    this.#receivedMs = nowMs()
    this.#lastOutageMs = this.#receivedMs
    this.#outages = createOutageWatch(options)
    this.#thread = startEngineThread({ onMessage: message => this.#receive(message), onError: failed })
    const [thread, { signal }] = [this.#thread, this.#closing]
    this.#feed = new RuleFeed({ ...options, thread, intake: this.#intake })
    this.#retries = createRetryPolicy(signal, options.log)
    this.#replay = new StoredReplay(options, { thread, signal, retries: this.#retries })
    this.#thread.post({ kind: 'outage', isOut: true, nowMs: this.#receivedMs })
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#running = this.#run().catch(error => {
      if (!this.#closing.signal.aborted) failed(error as Error)
    })
  }

  /** True once the states of the last run are loaded, and observations other than readings are accepted. */
  get isRestored(): boolean {
    return this.#isRestored
  }

  get isLive(): boolean {
    return this.#isLive
  }

  /** Changes that are not committed yet. */
  get backlog(): number {
    return this.#state.waiting + (this.#writer?.pending ?? 0)
  }

  /** Readings before this time may be missing for reasons of our own. */
  get lastOutageMs(): number {
    return this.#lastOutageMs
  }

  get state(): EngineState {
    return this.#state
  }

  /** Readings that were left out when too many waited. They are read again. */
  get dropped(): number {
    return this.#intake.dropped
  }

  /** Changes whose content PostgreSQL has refused. */
  get refused(): number {
    return this.#writer?.refused ?? 0
  }

  async #run(): Promise<void> {
    const { store, log, rules, coverage, applied } = this.#options
    const { evaluatedUntilMs, batch } = await this.#retries.retried(() => store.readRow())
    const committed = (unknownRules: readonly number[]) => {
      this.#thread.post({ kind: 'applied' })
      applied(unknownRules)
    }
    this.#writer = new BatchWriter({ store, log, lastBatch: batch, applied: committed, signal: this.#closing.signal })
    for (const rule of rules.values()) {
      this.setRule(rule, { added: coverage.devicesOf(rule.id), removed: [], reason: 'not_selected' })
    }
    await this.#replay.restoreStates()
    this.#isRestored = true
    let fromMs = evaluatedUntilMs ?? this.#receivedMs
    for (;;) {
      await this.#catchUp(fromMs)
      await this.#retries.until(() => this.#isMissing || this.#intake.takeDropped())
      this.#isMissing = false
      this.#isLive = false
      // Silence is not evaluated until missed readings are replayed.
      this.#thread.post({ kind: 'outage', isOut: true, nowMs: this.#options.nowMs() })
      if (Number.isFinite(this.#state.untilMs)) fromMs = this.#state.untilMs
      log.warn({ from: new Date(fromMs) }, 'missed readings; alerts are evaluated again from stored readings')
    }
  }

  /** Replays stored readings since then, and continues with new ones. */
  async #catchUp(sinceMs: number): Promise<void> {
    const { log, nowMs, isOut, rules, coverage } = this.#options
    await this.#replay.since(sinceMs)
    this.#feed.facts([...new Set([...rules.keys()].flatMap(id => coverage.devicesOf(id)))])
    this.#thread.post({ kind: 'outage', isOut: isOut(), nowMs: nowMs() })
    this.#isLive = true
    this.#send()
    log.info({ rules: rules.size, pairs: coverage.pairCount }, 'alerts are evaluated')
  }

  #tick(): void {
    const { nowMs, monotonicMs } = this.#options
    const { isOut, hasPaused, steppedMs, beforeMs } = this.#outages.look()
    const now = nowMs()
    if (isOut || hasPaused || steppedMs !== 0 || !this.#isLive) this.#lastOutageMs = now
    if (steppedMs !== 0) {
      // Readings that are still in the intake may have come since.
      this.#thread.post({ kind: 'clock', deltaMs: steppedMs, nowMs: beforeMs })
      this.#receivedMs = Math.min(this.#receivedMs, now)
    }
    if (this.#isLive) {
      if (hasPaused) this.#thread.post({ kind: 'outage', isOut: true, nowMs: now })
      this.#thread.post({ kind: 'outage', isOut, nowMs: now })
      this.#send()
    } else this.#intake.hold()
    // Readings that came while nothing else ran are still on their way: a moment is complete when the next one is here.
    this.#receivedMs = now
    this.#writer?.look(monotonicMs())
  }

  #send(): void {
    let isSent = false
    for (const packed of this.#intake.take()) {
      this.#thread.post({ kind: 'readings', packed, untilMs: this.#receivedMs })
      isSent = true
    }
    if (!isSent) this.#thread.post({ kind: 'readings', packed: new Float64Array(0), untilMs: this.#receivedMs })
  }

  #receive(message: EngineMessage): void {
    if (message.kind === 'pong') return
    this.#state = message.state
    if (message.kind === 'transitions') this.#writer?.write(message.transitions, message.state.untilMs)
    else {
      this.#intake.answered(message.bytes)
      this.#writer?.evaluated(message.state.untilMs)
    }
  }

  take(readings: TakenReadings, receiptMs: number): void {
    this.#intake.add(readings, receiptMs, device => this.#options.coverage.covers(device))
    if (this.#intake.packed < packedMax) return
    if (this.#isLive) this.#send()
    else this.#intake.hold()
  }

  /** There were readings that it did not get. */
  missed(): void {
    this.#isMissing = true
  }

  /** Sets a new rule, or one whose evaluation has changed. */
  setRule(rule: Rule, change: CoverageChange): void {
    this.#feed.rule(rule)
    this.coverageChanged(rule, change)
  }

  coverageChanged(rule: Rule, change: CoverageChange): void {
    const { added } = change
    this.#feed.coverage(rule, change)
    if (added.length === 0 || !this.#isLive) return
    this.#feed.facts(added)
    void this.#replay.lastOf(rule, added).catch(this.#options.failed)
  }

  removeRule(id: number, reason: EndReason): void {
    this.#feed.removal(id, reason)
  }

  /** Facts of the service need no readings. Everything else waits until they are known. */
  observe(rule: number, device: number, observation: Observation): void {
    if (this.#isLive || (this.#isRestored && observation.kind === 'fact'))
      this.#thread.post({ kind: 'observe', rule, device, observation })
  }

  /** Refreshes covered devices: cadences change, and a device may have received a series for the rule's metric. */
  refresh(rule: Rule, devices: readonly number[]): void {
    if (!this.#isLive) return
    this.#feed.series(rule, devices)
    this.#feed.facts(devices)
  }

  /**
   * The thread has no value of these devices when it resolves, nor of the metric alone, and earlier transitions are committed. False
   * while stored readings are replayed, which may have been read before they were erased.
   */
  async eraseValues(devices: readonly number[], metric: string | null): Promise<boolean> {
    if (!this.#isLive) return false
    const { rules, coverage } = this.#options
    for (const rule of metric === null ? [] : rules.values()) {
      if (metricOf(rule.condition) !== metric) continue
      const covered = new Set(coverage.devicesOf(rule.id))
      // Readings of the erased series, should some follow, are not read any more.
      const remaining = devices.filter(device => covered.has(device))
      this.#feed.series(rule, remaining)
    }
    this.#send()
    this.#thread.post({ kind: 'eraseValues', devices, metric })
    await this.#thread.settled()
    await this.#writer?.settled()
    return this.#isLive && !this.#closing.signal.aborted
  }

  /** Evaluates and commits accepted readings if PostgreSQL answers soon. Otherwise the next start replays them. */
  async close(isLeading = true): Promise<void> {
    clearInterval(this.#timer)
    const deadlineMs = performance.now() + finishMsMax
    if (this.#isLive && isLeading) await this.#finish(deadlineMs)
    this.#closing.abort()
    await this.#running
    await this.#thread.stop()
  }

  async #finish(deadlineMs: number): Promise<void> {
    this.#receivedMs = this.#options.nowMs()
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

interface OutageWatchOptions {
  readonly nowMs: () => number
  /** Reads a monotonic clock. */
  readonly monotonicMs: () => number
  /** True while no readings are accepted, or accepted readings are missing here. */
  readonly isOut: () => boolean
}

interface OutageLook {
  /** An outage goes on. */
  readonly isOut: boolean
  /** The process did not run for a while, up to now. */
  readonly hasPaused: boolean
  /** Step of the clock since the last look, or 0. */
  readonly steppedMs: number
  /** Time of the last look by the present clock. */
  readonly beforeMs: number
}

/** Clocks that are kept right by small steps differ by less. */
const stepMsMin = 1000
const pauseMsMin = 5000

/** Notices outages of this process and steps of its clock. `look` is called several times a second. */
function createOutageWatch(options: OutageWatchOptions): { look(): OutageLook } {
  const { nowMs, monotonicMs, isOut } = options
  let lastMs = nowMs()
  let lastMonotonicMs = monotonicMs()
  return {
    look() {
      const passedMs = monotonicMs() - lastMonotonicMs
      const atMs = nowMs()
      const steppedMs = atMs - lastMs - passedMs
      lastMs = atMs
      lastMonotonicMs += passedMs
      const hasPaused = passedMs >= pauseMsMin
      const isStepped = Math.abs(steppedMs) > stepMsMin
      return { isOut: isOut(), hasPaused, steppedMs: isStepped ? steppedMs : 0, beforeMs: atMs - passedMs }
    },
  }
}
