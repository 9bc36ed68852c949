/** The rates at which losses, outages and changes of an interval are taken for one another. */

import { upperBound } from '../../analytics/lower-bound.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'
import { freshnessOf } from '../../analytics/reliability/freshness.ts'
import { type Reliability, reliabilityAt } from '../../analytics/reliability/reliability.ts'
import { recordReliability } from '../../analytics/reliability/reliability-record.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { dayMs, hourMs, minuteMs, uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'
import { burstTimes, busyDayTimes, dayNightTimes, evenPoissonTimes, lognormalTimes } from './worlds.ts'

const startMs = Date.UTC(2026, 0, 1)
const nowMs = startMs + 30 * dayMs
const utc = createLocalTime('UTC')

function reliabilityOf(timesMs: Float64Array): Reliability {
  const cadence = cadenceOf(timesMs, null)
  const record = recordReliability({ timesMs, beforeMs: null, metrics: {}, nowMs, cadence, local: utc })
  return reliabilityAt(record, nowMs, utc)
}

/** Every `stepMs` of [fromMs, untilMs), each some of 2 s late. */
function regular(stepMs: number, fromMs: number, untilMs: number, next: () => number): number[] {
  const count = Math.ceil((untilMs - fromMs) / stepMs)
  return Array.from({ length: count }, (_, place) => fromMs + place * stepMs + 2000 * next())
}

/** Thirty days at the times of a Poisson process. */
const poisson = (perDay: number, next: () => number) => evenPoissonTimes(startMs, 30, perDay, next)

/** The moment of an event between the fifth and the 25th day. */
function moment(next: () => number): number {
  return startMs + (5 + Math.floor(20 * 1440 * next()) / 1440) * dayMs
}

function changed(beforeMs: number, afterMs: number, next: () => number): Float64Array {
  const change = moment(next)
  return Float64Array.of(...regular(beforeMs, startMs, change, next), ...regular(afterMs, change, nowMs, next))
}

const changes = [
  { name: '300 to 60 s', beforeMs: 5 * minuteMs, afterMs: minuteMs },
  { name: '60 to 300 s', beforeMs: minuteMs, afterMs: 5 * minuteMs },
]

const irregulars = [
  { name: 'a healthy irregular device with 50 readings a day', timesOf: (seed: number) => poisson(50, uniform(seed)) },
  ...[0.5, 1, 1.5, 2].map(sigma => ({
    name: `a healthy device with lognormal intervals of σ ${sigma}`,
    timesOf: (seed: number) => lognormalTimes(startMs, 30, seed, sigma),
  })),
  { name: 'a healthy device of bursts', timesOf: (seed: number) => burstTimes(startMs, 30, seed) },
  {
    name: 'a device that is busy by day and quiet by night',
    timesOf: (seed: number) => busyDayTimes(startMs, 30, seed),
  },
  {
    name: 'a device whose silences are drawn where they begin, four an hour by day and one in four hours by night',
    timesOf: (seed: number) => dayNightTimes(startMs, 30, seed),
  },
]

/** True if these times without a silence have it as a gap. */
function hasGap(times: Float64Array, fromMs: number, lengthMs: number): boolean {
  const { gaps } = reliabilityOf(times.filter(timeMs => timeMs < fromMs || timeMs >= fromMs + lengthMs))
  return gaps.some(({ start_ms, end_ms }) => start_ms <= fromMs && (end_ms ?? nowMs) >= fromMs + lengthMs)
}

/** Measured at 500 moments, with the facts of all thirty days. */
function lateShare(times: Float64Array, next: () => number): number {
  const cadence = cadenceOf(times, null)
  const moments = Array.from({ length: 500 }, () => startMs + (1 + 28 * next()) * dayMs)
  const late = moments.filter(timeMs => {
    const lastMs = times[upperBound(times, timeMs) - 1] ?? null
    return freshnessOf({ lastMs, nowMs: timeMs, enabled: true, cadence }).state !== 'fresh'
  })
  return late.length / moments.length
}

export const reportingProperties: readonly Property[] = [
  ...changes.map(({ name, beforeMs, afterMs }) => ({
    name: `no gap, no invalid day and uptime 1 in a change from ${name} without a loss`,
    atLeast: 1,
    run: (seed: number) => {
      const { gaps_total, windows, days } = reliabilityOf(changed(beforeMs, afterMs, uniform(seed)))
      const isWhole = days.every(({ state }) => state === 'ok' || state === null)
      return gaps_total === 0 && windows['30d'].uptime === 1 && isWhole && (windows['30d'].completeness ?? 0) > 0.999
    },
  })),
  {
    name: 'an outage of two days after a change from 60 to 300 s is one gap, and takes its share of completeness',
    atLeast: 1,
    run: seed => {
      const next = uniform(seed)
      const change = moment(next)
      const outage = change + dayMs
      const times = [
        ...regular(minuteMs, startMs, change, next),
        ...regular(5 * minuteMs, change, outage, next),
        ...regular(5 * minuteMs, outage + 2 * dayMs, nowMs, next),
      ]
      const { gaps_total, windows } = reliabilityOf(Float64Array.from(times))
      const { uptime, completeness } = windows['30d']
      const isDown = (share: number | null) => share !== null && Math.abs(share - 28 / 30) < 0.001
      return gaps_total === 1 && isDown(uptime) && isDown(completeness)
    },
  },
  ...changes.map(({ name, beforeMs, afterMs }) => ({
    name: `completeness within 0.01 of the truth in a change from ${name} at which an outage of two days begins`,
    atLeast: 1,
    run: (seed: number) => {
      const next = uniform(seed)
      const change = moment(next)
      const times = [...regular(beforeMs, startMs, change, next), ...regular(afterMs, change + 2 * dayMs, nowMs, next)]
      const { completeness } = reliabilityOf(Float64Array.from(times)).windows['30d']
      return completeness !== null && Math.abs(completeness - 28 / 30) <= 0.01
    },
  })),
  {
    name: 'another interval than a minute where 80 % of the readings of a month are lost',
    atMost: 0.005,
    run: seed => {
      const next = uniform(seed)
      const times = regular(minuteMs, startMs, nowMs, next).filter(() => next() >= 0.8)
      const { stretches, kind } = cadenceOf(Float64Array.from(times), null)
      return kind !== 'regular' || stretches.some(({ expectedMs }) => Math.abs(expectedMs - minuteMs) > 2000)
    },
  },
  {
    name: 'bursts of five readings every two hours have that interval, and nothing missing',
    atLeast: 1,
    run: seed => {
      const times = burstTimes(startMs, 30, seed)
      const { kind, expectedMs } = cadenceOf(times, null)
      const { completeness } = reliabilityOf(times).windows['30d']
      const isWhole = completeness === null || completeness > 0.95
      return kind !== 'unknown' && Math.abs((expectedMs ?? 0) - 2 * hourMs) <= 0.2 * hourMs && isWhole
    },
  },
  {
    name: 'six silent hours are a gap of an irregular device with 50 readings a day',
    atLeast: 0.95,
    run: seed => hasGap(poisson(50, uniform(seed)), moment(uniform(7919 * seed)), 6 * hourMs),
  },
  {
    name: 'six silent hours are a gap of an irregular device that is busy in the day, in its day',
    atLeast: 0.95,
    run: seed => {
      const day = 5 + Math.floor(20 * uniform(7919 * seed)())
      return hasGap(busyDayTimes(startMs, 30, seed), startMs + day * dayMs + 9 * hourMs, 6 * hourMs)
    },
  },
  {
    name: `a day with a false gap of ${irregulars[0]?.name}`,
    atMost: 0.05,
    run: seed => {
      const { gaps } = reliabilityOf(poisson(50, uniform(seed)))
      return new Set(gaps.map(gap => Math.floor(gap.start_ms / dayMs))).size / 30
    },
  },
  ...irregulars.map(({ name, timesOf }) => ({
    name: `the time that ${name} is late or worse`,
    atMost: 0.02,
    run: (seed: number) => lateShare(timesOf(seed), uniform(7919 * seed)),
  })),
]
