/** One preview: a rule and its variants on stored readings, which come in the order of time. */

import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { Condition } from '../core/condition.ts'
import type { AlertReadings } from '../core/readings.ts'
import { HoursWatch } from './hours-watch.ts'
import type { FiringCounts, PreviewJob, PreviewResult, Watch } from './preview-job.ts'
import { PreviewedPair, variantsOf } from './previewed-pair.ts'
import { SilenceWatch } from './silence-watch.ts'
import { SiteWatch } from './site-watch.ts'
import { SuspectWatch } from './suspect-watch.ts'
import { UnusualWatch } from './unusual-watch.ts'
import { ValueWatch } from './value-watch.ts'
import { weekOf, weeksBetween } from './weeks.ts'

/** The number that stands for all devices; see alerts/core/rule.ts. */
const noDevice = 0

/** Whether stored readings say when the condition held. */
export function isPreviewed(condition: Condition): boolean {
  if (condition.kind === 'battery') return condition.metric !== undefined
  return condition.kind !== 'service'
}

export class PreviewRun {
  readonly #job: PreviewJob
  readonly #local: LocalTime
  readonly #pairs: ReadonlyMap<number, PreviewedPair>
  readonly #watch: Watch

  constructor(job: PreviewJob, local: LocalTime) {
    const rules = variantsOf(job.rule)
    const isOfSite = job.rule.condition.kind === 'site_silent'
    const numbers = isOfSite ? [noDevice] : job.devices.map(({ number }) => number)
    this.#job = job
    this.#local = local
    this.#pairs = new Map(numbers.map(number => [number, new PreviewedPair(rules, job)]))
    const site = this.#pairs.get(noDevice)
    this.#watch = site === undefined ? watchOf(job, this.#pairs) : new SiteWatch(job, site)
  }

  take(readings: AlertReadings): void {
    this.#watch.take(readings)
  }

  end(): PreviewResult {
    this.#watch.end()
    const devices: (FiringCounts & { number: number })[] = []
    for (const [number, pair] of this.#pairs) {
      pair.end()
      const { count, longestMs, intervals } = pair.firings[0]
      devices.push({ number, count, longestMs, intervals })
    }
    return { devices, weeks: this.#weeks() }
  }

  #weeks(): PreviewResult['weeks'] {
    const { fromMs, toMs } = this.#job
    const weeks = weeksBetween(this.#local, fromMs, toMs).map(week => ({ week, count: 0, half: 0, twice: 0 }))
    const byName = new Map(weeks.map(week => [week.week, week]))
    const names = ['count', 'half', 'twice'] as const
    for (const { firings } of this.#pairs.values()) {
      for (const [at, name] of names.entries()) {
        for (const beginMs of firings[at]?.beginsMs ?? []) {
          const week = byName.get(weekOf(this.#local, beginMs))
          if (week !== undefined) week[name]++
        }
      }
    }
    return weeks
  }
}

function watchOf(job: PreviewJob, pairs: ReadonlyMap<number, PreviewedPair>): Watch {
  switch (job.rule.condition.kind) {
    case 'silent':
      return new SilenceWatch(job, pairs)
    case 'completeness':
      return new HoursWatch(job, pairs)
    case 'suspect':
      return new SuspectWatch(job, pairs)
    case 'unusual':
      return new UnusualWatch(job, pairs)
    default:
      return new ValueWatch(pairs)
  }
}
