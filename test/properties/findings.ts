/** False findings in the month of a healthy device, and found faults of a broken one. */

import { type Finding, rankFindings } from '../../analytics/findings/finding.ts'
import { excursionFinding, levelFinding, unusualFinding } from '../../analytics/findings/from-gauges.ts'
import { type CheckedMetric, qualityFindings } from '../../analytics/findings/from-quality.ts'
import { outageFindings, silentMetricFindings } from '../../analytics/findings/from-reliability.ts'
import { StandingRuns } from '../../analytics/fleet/standing-runs.ts'
import { checkQuality } from '../../analytics/quality/quality.ts'
import { freeLimits, qualityLimits, stillLimits } from '../../analytics/quality/quality-limits.ts'
import { quantumOf } from '../../analytics/quality/sensor-limits.ts'
import { type Cadence, cadenceOf } from '../../analytics/reliability/cadence.ts'
import { recordReliability } from '../../analytics/reliability/reliability-record.ts'
import { binMeans, frameOf } from '../../analytics/time/grid.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { batteryFindings } from '../../query/findings/known-battery.ts'
import { hasOwnLevel } from '../../query/findings/words.ts'
import { units } from '../../query/series.ts'
import { brokenWorlds } from './broken-worlds.ts'
import {
  custom,
  dayMs,
  days,
  healthyWorlds,
  hourMs,
  outdoors,
  startMs,
  type World,
  type WorldDevice,
} from './healthy-worlds.ts'
import type { Property } from './property.ts'

const utc = createLocalTime('UTC')

/** All findings of the last thirty days. One that continues counts once. */
function findingsOfMonth(world: World): Finding[] {
  const all: Finding[] = []
  for (let day = 8; day <= days; day++) all.push(...findingsAt(world, startMs + day * dayMs))
  return rankFindings(all, Number.POSITIVE_INFINITY)
}

function findingsAt({ timesMs, metrics, device = {} }: World, nowMs: number): Finding[] {
  const to = timesMs.findLastIndex(timeMs => timeMs < nowMs) + 1
  const times = timesMs.subarray(0, to)
  const cadence = cadenceOf(times, null)
  const record = recordReliability({ timesMs: times, beforeMs: null, metrics: {}, nowMs, cadence, local: utc })
  const checked = Object.entries(metrics).map(([name, values]): CheckedMetric => {
    const some = values.subarray(0, to)
    const { marks, counts, limits: known } = checkQuality(times, some, limitsOf(name), cadence.stretches)
    const flatMs = counts.flat_hours === null ? null : counts.flat_hours * hourMs
    return { name, timesMs: times, values: some, marks, range: known.range, flatMs }
  })
  const present = Object.entries(metrics).map(([name, values]) => {
    return { name, kind: 'gauge' as const, timesMs: times.filter((_, place) => !Number.isNaN(values[place])) }
  })
  return [
    ...checked.flatMap(metric => qualityFindings(metric, cadence.stretches, nowMs)),
    ...levels(times, metrics, to),
    ...batteries(times, metrics, device, nowMs),
    ...excursions(times, metrics, device, cadence, nowMs),
    ...outageFindings(record, utc, nowMs),
    ...silentMetricFindings(present, cadence, times.at(-1) as number),
  ]
}

/** Changes of level in the last thirty days, by the rules of the statistics. */
function levels(times: Float64Array, metrics: World['metrics'], to: number): Finding[] {
  const lastMs = times.at(-1) as number
  const from = times.findIndex(timeMs => timeMs > lastMs - 30 * dayMs)
  const frame = frameOf(times[from] as number, lastMs, hourMs)
  const localHours = Uint8Array.from({ length: frame.cells }, (_, cell) => (frame.startMs / hourMs + cell) % 24)
  return Object.entries(metrics).flatMap(([metric, values]) => {
    if (!hasOwnLevel(metric, (units as Readonly<Record<string, string>>)[metric] ?? null, 'none')) return []
    const hourly = binMeans(times.subarray(from), values.subarray(from, to), frame)
    const quantum = quantumOf(values.subarray(from, to))
    const given = { metric, hourly, localHours, startMs: frame.startMs, quantum, isControlled: false }
    return levelFinding(given) ?? unusualFinding(given) ?? []
  })
}

function batteries(times: Float64Array, metrics: World['metrics'], device: Partial<WorldDevice>, nowMs: number) {
  const frame = frameOf(nowMs - 30 * dayMs, nowMs - 1, hourMs)
  const hours = (name: string) => {
    const values = metrics[name]?.subarray(0, times.length) ?? new Float64Array(times.length).fill(Number.NaN)
    return binMeans(times, values, frame)
  }
  const means = { battery_voltage: hours('battery_voltage'), battery_percentage: hours('battery_percentage') }
  const { battery_type = null, battery_cells = 1 } = device
  return batteryFindings({
    window: { hourly: { frame, means }, custom: [] },
    custom: [],
    device: { battery_type, battery_cells },
    nowMs,
  })
}

function excursions(
  timesMs: Float64Array,
  metrics: World['metrics'],
  { isColdChain = false }: Partial<WorldDevice>,
  cadence: Cadence,
  nowMs: number,
): Finding[] {
  const values = metrics['temperature']?.subarray(0, timesMs.length)
  if (!isColdChain || values === undefined) return []
  return [excursionFinding({ name: 'temperature', timesMs, values }, cadence.stretches, nowMs) ?? []].flat()
}

/** Gauges standing still by the rules of fleet insights: by the extremes of six hours. */
function standingIn({ timesMs, metrics }: World, endMs: number): string[] {
  const stretchMs = 6 * hourMs
  const fromMs = endMs - fleetStretches * stretchMs
  return Object.entries(metrics).flatMap(([name, values]) => {
    const runs = new StandingRuns(1, fleetStretches)
    for (const [place, timeMs] of timesMs.entries()) {
      const value = values[place] as number
      if (timeMs < fromMs || timeMs >= endMs || Number.isNaN(value)) continue
      const stretch = Math.floor((timeMs - fromMs) / stretchMs)
      runs.add(0, stretch, { min: value, max: value, hours: 6 / Math.ceil(timesMs.length / (days * 4)) })
    }
    const run = runs.standing(0)
    return run === undefined || (run.value === 0 && Object.hasOwn(custom, name)) ? [] : [name]
  })
}

const fleetStretches = 60

/** The share of the metric with the most suspects in the whole month. */
function suspectShareOf({ timesMs, metrics }: World): number {
  const { stretches } = cadenceOf(timesMs, null)
  const shares = Object.entries(metrics).map(([name, values]) => {
    return checkQuality(timesMs, values, limitsOf(name), stretches).counts.suspect / values.length
  })
  return Math.max(...shares)
}

function limitsOf(name: string) {
  return Object.hasOwn(custom, name)
    ? stillLimits(freeLimits(qualityLimits(name, null), {}), {})
    : qualityLimits(name, 0)
}

export const findingsProperties: readonly Property[] = [
  ...healthyWorlds.map(({ name, made }) => ({
    name: `a gauge that stands still by the hours of a fleet, on any day of two weeks of a healthy device ${name}`,
    atMost: 0.05,
    run: (seed: number) => {
      const world = made(seed)
      const lastDays = Array.from({ length: 14 }, (_, day) => startMs + (days - day) * dayMs)
      return lastDays.some(endMs => standingIn(world, endMs).length > 0)
    },
  })),
  {
    name: 'a thermometer that stands still for 36 hours is found by the hours of a fleet',
    atLeast: 0.95,
    run: seed => {
      const endMs = startMs + days * dayMs
      const world = outdoors(seed)
      const temperature = (world.metrics['temperature'] as Float64Array).map((value, place) => {
        return (world.timesMs[place] as number) < endMs - 36 * hourMs ? value : 11.3
      })
      return standingIn({ ...world, metrics: { temperature } }, endMs).includes('temperature')
    },
  },
  ...healthyWorlds.map(({ name, made }) => ({
    name: `more than one finding in a month of a healthy device ${name}`,
    atMost: 0.05,
    run: (seed: number) => findingsOfMonth(made(seed)).length > 1,
  })),
  ...healthyWorlds.map(({ name, made }) => ({
    name: `suspect readings of a healthy device ${name}`,
    atMost: 0.01,
    run: (seed: number) => suspectShareOf(made(seed)),
  })),
  ...brokenWorlds.map(({ code, name, made }) => ({
    name: `${code}: ${name} is found`,
    atLeast: 0.95,
    run: (seed: number) => findingsAt(made(seed), startMs + days * dayMs).some(finding => finding.code === code),
  })),
]
