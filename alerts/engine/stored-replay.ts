/** Brings the engine's thread to the present: restores the states of the last run, and replays readings stored since. */

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { AlertReadings, AskedReadings } from '../../query/alerts/alert-queries.ts'
import type { Live } from '../../query/live/live.ts'
import type { Log } from '../../store/log.ts'
import { metrics } from '../../store/tables.ts'
import { bounds } from '../core/bounds.ts'
import { metricOf } from '../core/condition.ts'
import { type AlertDevices, askedColumns, type ReadAlertReadings } from '../core/devices.ts'
import type { Rule } from '../core/rule.ts'
import { memoryMs } from '../core/samples.ts'
import { isOfValues } from './covered-pairs.ts'
import type { RestoredPair } from './engine.ts'
import type { EngineHandle } from './engine-handle.ts'
import { type PackedReadings, ReadingsBuffer } from './packed-readings.ts'
import type { Replay } from './pair-states.ts'
import type { RuleCoverage } from './rule-coverage.ts'

/** Metrics whose values are wanted of some devices. */
interface ReplayPlan {
  readonly devices: readonly number[]
  readonly metrics: readonly string[]
  /** Epoch milliseconds. */
  readonly fromMs: number
  readonly toMs: number
}

interface ReplayParts {
  readonly devices: AlertDevices
  readonly live: Pick<Live, 'latest'>
  readonly readings: ReadAlertReadings
  readonly nowMs: () => number
}

export interface StoredReplayOptions extends ReplayParts {
  /** True once QuestDB answers and the state of the fleet is loaded. */
  readonly isSettled: () => boolean
  /** The returned function is true once QuestDB shows all readings that were accepted before this call. */
  readonly markTaken: () => () => boolean
  readonly store: { readonly readPairs: () => AsyncIterable<readonly RestoredPair[]> }
  readonly rules: ReadonlyMap<number, Rule>
  readonly coverage: RuleCoverage
}

interface StoredReplayParts {
  readonly thread: Pick<EngineHandle, 'post' | 'settled'>
  readonly retries: RetryPolicy
  readonly signal: AbortSignal
}

const dayMs = 86_400_000
const devicesPerTurn = 500

export class StoredReplay {
  readonly #options: StoredReplayOptions
  readonly #parts: StoredReplayParts

  constructor(options: StoredReplayOptions, parts: StoredReplayParts) {
    this.#options = options
    this.#parts = parts
  }

  async restoreStates(): Promise<void> {
    const { retries, thread } = this.#parts
    await retries.retried(async () => {
      for await (const pairs of this.#options.store.readPairs()) thread.post({ kind: 'restore', pairs })
    })
  }

  /** Replays readings received since then, once QuestDB shows all accepted ones. */
  async since(sinceMs: number): Promise<void> {
    const { nowMs, isSettled, markTaken } = this.#options
    const { retries } = this.#parts
    const isShown = markTaken()
    await retries.until(() => isSettled() && isShown())
    // Our clock may have been set back meanwhile.
    const fromMs = Math.min(Math.max(sinceMs, nowMs() - dayMs), nowMs()) - bounds.replaySlackMs
    await retries.retried(() => this.#from(fromMs))
  }

  async #from(fromMs: number): Promise<void> {
    const { rules, coverage, nowMs } = this.#options
    // Clocks may be ahead.
    for (const plan of replayPlans(rules.values(), id => coverage.devicesOf(id), { fromMs, toMs: nowMs() + dayMs })) {
      await this.#replay(lastReadings(plan, this.#options), { fromMs: nowMs() })
      await this.#replay(storedReadings(plan, this.#options, this.#parts.signal), { warmBeforeUs: fromMs * 1000 })
    }
  }

  /** A rule that is new for these devices evaluates the last reading of each as of now. */
  async lastOf(rule: Rule, devices: readonly number[]): Promise<void> {
    const metric = isOfValues(rule) ? metricOf(rule.condition) : undefined
    if (metric === undefined) return
    const nowMs = this.#options.nowMs()
    const plan = { devices, metrics: [metric], fromMs: Number.POSITIVE_INFINITY, toMs: nowMs }
    await this.#replay(lastReadings(plan, this.#options), { rules: new Set([rule.id]), fromMs: nowMs })
  }

  async #replay(readings: AsyncIterable<PackedReadings>, replay: Partial<Replay> = {}): Promise<void> {
    const { thread } = this.#parts
    for await (const packed of readings) {
      thread.post({ kind: 'replay', packed, warmBeforeUs: Number.NEGATIVE_INFINITY, ...replay })
      await thread.settled()
    }
  }
}

/** Start of evaluation. Devices of rules on changes are read from further back, by the length of their reference. */
function replayPlans(
  rules: Iterable<Rule>,
  devicesOf: (rule: number) => readonly number[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): ReplayPlan[] {
  const ofValues = [...rules].filter(isOfValues)
  const metrics = [...new Set(ofValues.map(({ condition }) => metricOf(condition) as string))]
  const windowMs = (rule: Rule) => ('window_seconds' in rule.condition ? rule.condition.window_seconds * 1000 : 0)
  const changes = ofValues.filter(rule => windowMs(rule) > 0)
  const early = new Set(changes.flatMap(({ id }) => devicesOf(id)))
  const plain = new Set(ofValues.flatMap(({ id }) => devicesOf(id)).filter(number => !early.has(number)))
  const beginMs = fromMs - memoryMs(Math.max(0, ...changes.map(windowMs)))
  return [
    { devices: [...plain], metrics, fromMs, toMs },
    { devices: [...early], metrics, fromMs: beginMs, toMs },
  ].filter(({ devices }) => devices.length > 0)
}

/** The last values of devices whose newest reading is older than the plan's range. Of others they are in it. */
async function* lastReadings(plan: ReplayPlan, parts: ReplayParts): AsyncGenerator<PackedReadings> {
  const buffer = new ReadingsBuffer()
  for (const [index, number] of plan.devices.entries()) {
    if (index % devicesPerTurn === devicesPerTurn - 1) {
      if (buffer.count > 0) yield buffer.take()
      await turn()
    }
    packLast(buffer, number, plan, parts)
  }
  if (buffer.count > 0) yield buffer.take()
}

/** A value of an older time than others is a reading of its own. */
function packLast(
  buffer: ReadingsBuffer,
  number: number,
  { metrics: wanted, fromMs }: ReplayPlan,
  parts: ReplayParts,
): void {
  const latest = parts.live.latest(number)
  if (latest === undefined) return
  const byTime = new Map<number, Map<string, number>>()
  for (const name of wanted) {
    const last = latest.values[name]
    if (last === undefined || last.ts >= fromMs) continue
    const values = byTime.get(last.ts) ?? new Map<string, number>()
    byTime.set(last.ts, values.set(name, last.v))
  }
  const nowMs = parts.nowMs()
  for (const [timeMs, values] of [...byTime].toSorted(([a], [b]) => a - b)) {
    const custom = [...values].flatMap(([name, value]): [number, number][] => {
      const place = parts.devices.seriesOf(number, name)
      return place !== undefined && 'series' in place ? [[place.series, value]] : []
    })
    const columnValue = (column: number) => values.get(metrics[column] as string) ?? Number.NaN
    buffer.addStored(number, timeMs * 1000, nowMs, columnValue, custom)
  }
}

/** Readings of each device in the order of time. Rejects while QuestDB is unavailable. */
async function* storedReadings(
  plan: ReplayPlan,
  parts: ReplayParts,
  signal: AbortSignal,
): AsyncGenerator<PackedReadings> {
  const asked = askOf(plan, parts.devices)
  if (asked.devices.length === 0) return
  for await (const piece of parts.readings(asked, signal)) yield pack(piece, asked, parts.nowMs())
}

export function askOf({ devices, metrics: wanted, fromMs, toMs }: ReplayPlan, registry: AlertDevices): AskedReadings {
  const found = devices.flatMap(number => registry.byNumber(number) ?? [])
  return { ...askedColumns(wanted, found, registry), fromUs: fromMs * 1000, toUs: toMs * 1000 }
}

function pack(piece: AlertReadings, asked: AskedReadings, nowMs: number): PackedReadings {
  const buffer = new ReadingsBuffer()
  const places = metrics.map(metric => asked.columns.indexOf(metric))
  const seriesOf = new Map(asked.devices.map(({ number, series }) => [number, series]))
  for (let row = 0; row < piece.length; row++) {
    const valueAt = (place: number) => piece.values[place]?.[row] ?? Number.NaN
    const device = piece.device[row] as number
    const custom = (seriesOf.get(device) ?? []).flatMap((series, place): [number, number][] => {
      return series === undefined || Number.isNaN(valueAt(place)) ? [] : [[series, valueAt(place)]]
    })
    const columnValue = (column: number) => valueAt(places[column] as number)
    buffer.addStored(device, piece.timesUs[row] as number, nowMs, columnValue, custom)
  }
  return buffer.take()
}

const pollMs = 100
const retryMs = 1000

export interface RetryPolicy {
  /** Repeats the work until it does not reject. */
  retried<Result>(work: () => Promise<Result>): Promise<Result>
  until(isSo: () => boolean): Promise<void>
}

/** Both reject when the signal aborts. */
export function createRetryPolicy(signal: AbortSignal, log: Pick<Log, 'warn'>): RetryPolicy {
  return {
    async retried(work) {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          if (signal.aborted) throw error
          log.warn({ err: error }, 'alerts cannot be evaluated yet, retrying')
          await sleep(retryMs, undefined, { signal })
        }
      }
    },
    async until(isSo) {
      while (!isSo()) await sleep(pollMs, undefined, { signal })
    },
  }
}
