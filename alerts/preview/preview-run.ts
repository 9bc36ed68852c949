/**
 * One preview: the evaluator of the service takes stored readings in the order of time. Its clock is virtual and moves from one
 * reading or deadline to the next.
 */

import { formatDate, parseDate, twoDigits } from '../../analytics/time/calendar.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AlertReadings } from '../../query/alerts/alert-queries.ts'
import type { Condition } from '../core/condition.ts'
import { noDevice, type RuleCore } from '../core/rule.ts'
import type { Effect } from '../core/transition.ts'
import { isOfValues, noColumn } from '../engine/covered-pairs.ts'
import { Evaluator } from '../engine/evaluator.ts'
import type { EngineReading } from '../engine/pair-states.ts'
import { type HourFeed, hourFeedOf } from './hour-feeds.ts'
import type { FiringCounts, PreviewJob, PreviewResult } from './preview-job.ts'

/** True where stored readings show when the condition held. */
export function isPreviewed(condition: Condition): boolean {
  if (condition.kind === 'battery') return condition.metric !== undefined
  return condition.kind !== 'service'
}

/** The rule as it is, with half and with twice its duration. */
const variants = ['count', 'half', 'twice'] as const
const forgetEveryMs = 86_400_000

export class PreviewRun {
  readonly #job: PreviewJob
  readonly #local: LocalTime
  readonly #evaluator: Evaluator
  /** Keys are devices. Each variant has its firings. */
  readonly #firings: ReadonlyMap<number, readonly Firings[]>
  readonly #feed: HourFeed | undefined
  /** All before is evaluated. Readings of this moment may follow. */
  #nowMs = Number.NEGATIVE_INFINITY
  #forgottenMs = Number.NEGATIVE_INFINITY

  constructor(job: PreviewJob, local: LocalTime) {
    this.#job = job
    this.#local = local
    const isOfSite = job.rule.condition.kind === 'site_silent'
    const devices = isOfSite ? [noDevice] : job.devices.map(({ number }) => number)
    const cores = coresOf(job.rule)
    this.#firings = new Map(devices.map(number => [number, cores.map(() => new Firings(job))]))
    this.#evaluator = evaluatorOf(job, cores, devices)
    this.#feed = hourFeedOf(job, (device, observation) => {
      for (const id of cores.keys()) this.#evaluator.observe(id, device, observation)
      this.#drain()
    })
  }

  take(readings: AlertReadings): void {
    if (this.#feed === undefined) this.#evaluate(readings)
    else this.#feed.take(readings)
  }

  #evaluate(readings: AlertReadings): void {
    const reading = new StoredReading(readings)
    for (; reading.row < readings.length; reading.row++) {
      this.#passTime(reading.receiptMs)
      this.#evaluator.take(reading)
      this.#drain()
    }
  }

  /** Evaluates all deadlines before a moment: a reading at the very moment of its deadline is in time. */
  #passTime(timeMs: number): void {
    if (timeMs === this.#nowMs) return
    // The changes of a site in one moment count together.
    if (this.#evaluator.nextMs() <= this.#nowMs) this.#advance(this.#nowMs)
    for (let nextMs = this.#evaluator.nextMs(); nextMs < timeMs; nextMs = this.#evaluator.nextMs()) {
      this.#advance(nextMs)
    }
    this.#nowMs = timeMs
    if (timeMs < this.#forgottenMs + forgetEveryMs) return
    this.#forgottenMs = timeMs
    this.#evaluator.forget(timeMs)
  }

  #advance(timeMs: number): void {
    while (this.#evaluator.advance(timeMs));
    this.#drain()
  }

  #drain(): void {
    if (this.#evaluator.queue.length === 0) return
    for (const { rule, device, effects } of this.#evaluator.takeTransitions(Number.POSITIVE_INFINITY, true)) {
      this.#firings.get(device)?.[rule]?.take(effects)
    }
  }

  end(): PreviewResult {
    this.#feed?.end()
    this.#passTime(this.#job.toMs)
    const devices: (FiringCounts & { number: number })[] = []
    for (const [number, firings] of this.#firings) {
      for (const each of firings) each.end()
      const { count, longestMs, intervals } = firings[0] as Firings
      devices.push({ number, count, longestMs, intervals })
    }
    return { devices, weeks: this.#weeks() }
  }

  #weeks(): PreviewResult['weeks'] {
    const { fromMs, toMs } = this.#job
    const weeks = weeksBetween(this.#local, fromMs, toMs).map(week => ({ week, count: 0, half: 0, twice: 0 }))
    const byName = new Map(weeks.map(week => [week.week, week]))
    for (const firings of this.#firings.values()) {
      for (const [at, name] of variants.entries()) {
        for (const beginMs of (firings[at] ?? firings[0])?.beginsMs ?? []) {
          const week = byName.get(weekOf(this.#local, beginMs))
          if (week !== undefined) week[name]++
        }
      }
    }
    return weeks
  }
}

/** The index is the rule's id in the evaluator. Without a duration, all variants are the same. */
function coresOf(rule: RuleCore): readonly RuleCore[] {
  const factors = rule.for_seconds === 0 ? [1] : [1, 0.5, 2]
  return factors.map(factor => ({ ...rule, for_seconds: factor * rule.for_seconds }))
}

function evaluatorOf(
  { rule, devices, readFromMs }: PreviewJob,
  cores: readonly RuleCore[],
  alerting: readonly number[],
): Evaluator {
  const evaluator = new Evaluator()
  const covered = [...new Set([...alerting, ...devices.map(({ number }) => number)])]
  const column = isOfValues(rule) ? 0 : noColumn
  for (const [id, core] of cores.entries()) {
    evaluator.setRule({ id, version: 1, core, severity: 'info', metric: null, column })
    evaluator.cover(id, covered)
  }
  for (const { number, afterMs, lastMs } of devices) {
    // The last reading before is unknown for a device with a later one.
    const lastBeforeMs = lastMs < readFromMs ? lastMs : Number.NaN
    const silence = { lastMs: lastBeforeMs, lateSeconds: afterMs / 1000, freshSeconds: 0 }
    evaluator.setDevice({ number, seenUs: Number.NaN, ...silence })
  }
  return evaluator
}

/** The reading of a row. Its only values are of the rule's metric. The time of receipt is not stored. */
class StoredReading implements EngineReading {
  readonly #readings: AlertReadings
  row = 0

  constructor(readings: AlertReadings) {
    this.#readings = readings
  }

  get device(): number {
    return this.#readings.device[this.row] as number
  }

  get timeUs(): number {
    return this.#readings.timesUs[this.row] as number
  }

  get receiptMs(): number {
    return this.timeUs / 1000
  }

  value(): number {
    return this.#readings.values[0]?.[this.row] ?? Number.NaN
  }

  custom(): number {
    return Number.NaN
  }
}

/** Listed episodes of one pair. */
const intervalsMax = 500

/** Counts the firings of a pair by the effects of its observations. */
class Firings {
  readonly #range: Pick<PreviewJob, 'fromMs' | 'toMs'>
  #openMs = Number.NaN
  count = 0
  longestMs = 0
  /** Start of each firing within the range. */
  readonly beginsMs: number[] = []
  /** The newest ones, within the range. The end is NaN of one that goes on. */
  readonly intervals: { fromMs: number; toMs: number }[] = []

  constructor(range: Pick<PreviewJob, 'fromMs' | 'toMs'>) {
    this.#range = range
  }

  take(effects: readonly Effect[]): void {
    for (const { kind, atMs } of effects) {
      if (kind === 'fired') this.#openMs = atMs
      if (kind !== 'resolved') continue
      this.#add(this.#openMs, atMs)
      this.#openMs = Number.NaN
    }
  }

  /** All is evaluated. */
  end(): void {
    if (!Number.isNaN(this.#openMs)) this.#add(this.#openMs, Number.NaN)
    this.#openMs = Number.NaN
  }

  #add(firedMs: number, resolvedMs: number): void {
    const { fromMs, toMs } = this.#range
    if (resolvedMs <= fromMs || firedMs >= toMs) return
    const interval = { fromMs: Math.max(firedMs, fromMs), toMs: resolvedMs }
    this.count++
    this.beginsMs.push(interval.fromMs)
    this.longestMs = Math.max(this.longestMs, (Number.isNaN(resolvedMs) ? toMs : resolvedMs) - interval.fromMs)
    this.intervals.push(interval)
    if (this.intervals.length > intervalsMax) this.intervals.shift()
  }
}

const dayMs = 86_400_000
const weekDays = 7

/** `2026-W48`: the week of a year that its Thursday lies in. */
export function weekOf(local: Pick<LocalTime, 'offsetMs'>, timeMs: number): string {
  const day = Math.floor((timeMs + local.offsetMs(timeMs)) / dayMs)
  // Day 0 was a Thursday.
  const thursday = Math.floor((day + 3) / weekDays) * weekDays
  const year = formatDate(thursday).slice(0, 4)
  const first = parseDate(`${year}-01-01`) as number
  return `${year}-W${twoDigits(Math.floor((thursday - first) / weekDays) + 1)}`
}

/** All weeks of a range, ascending. */
export function weeksBetween(local: Pick<LocalTime, 'offsetMs'>, fromMs: number, toMs: number): string[] {
  const weeks = new Set<string>()
  for (let timeMs = fromMs; timeMs < toMs; timeMs += dayMs) weeks.add(weekOf(local, timeMs))
  weeks.add(weekOf(local, toMs))
  return [...weeks]
}
