/** How often something is found in the month of a healthy device, and how often what is broken is found. */

import type { Finding } from '../../analytics/findings/finding.ts'
import { levelFinding } from '../../analytics/findings/from-changes.ts'
import { type CheckedMetric, qualityFindings } from '../../analytics/findings/from-quality.ts'
import { outageFindings, silentMetricFindings } from '../../analytics/findings/from-reliability.ts'
import { rankFindings } from '../../analytics/findings/rank.ts'
import { StandingRuns } from '../../analytics/fleet/standing-runs.ts'
import { checkQuality } from '../../analytics/quality/quality.ts'
import { qualityLimits, stillLimits } from '../../analytics/quality/quality-limits.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'
import { recordReliability } from '../../analytics/reliability/reliability-record.ts'
import { binMeans, frameOf } from '../../analytics/time/grid.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { autoregressive, uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const startMs = Date.UTC(2026, 0, 1)
const days = 37
const utc = createLocalTime('UTC')

interface World {
  readonly timesMs: Float64Array
  readonly metrics: Readonly<Record<string, Float64Array>>
}

/** All that is found on any day of the last thirty; what goes on is one. */
function findingsOfMonth(world: World): Finding[] {
  const all: Finding[] = []
  for (let day = 8; day <= days; day++) all.push(...findingsAt(world, startMs + day * dayMs))
  return rankFindings(all, Number.POSITIVE_INFINITY)
}

function findingsAt({ timesMs, metrics }: World, nowMs: number): Finding[] {
  const to = timesMs.findLastIndex(timeMs => timeMs < nowMs) + 1
  const times = timesMs.subarray(0, to)
  const cadence = cadenceOf(times, null)
  const record = recordReliability({ timesMs: times, beforeMs: null, metrics: {}, nowMs, cadence, local: utc })
  const checked = Object.entries(metrics).map(([name, values]): CheckedMetric => {
    const limits = Object.hasOwn(further, name) ? stillLimits(qualityLimits(name, null), {}) : qualityLimits(name, 0)
    const some = values.subarray(0, to)
    const { marks, counts } = checkQuality(times, some, limits, cadence.stretches)
    const flatMs = counts.flat_hours === null ? null : counts.flat_hours * hourMs
    return { name, timesMs: times, values: some, marks, range: limits.range, flatMs }
  })
  const present = Object.entries(metrics).map(([name, values]) => {
    return { name, kind: 'gauge' as const, timesMs: times.filter((_, place) => !Number.isNaN(values[place])) }
  })
  return [
    ...checked.flatMap(metric => qualityFindings(metric, cadence.stretches, nowMs)),
    ...levels(times, metrics, to),
    ...outageFindings(record, utc, nowMs),
    ...silentMetricFindings(present, cadence, times.at(-1) as number),
  ]
}

/** Of the last thirty days, as the statistics have them. */
function levels(times: Float64Array, metrics: World['metrics'], to: number): Finding[] {
  const lastMs = times.at(-1) as number
  const from = times.findIndex(timeMs => timeMs > lastMs - 30 * dayMs)
  const frame = frameOf(times[from] as number, lastMs, hourMs)
  const localHours = Uint8Array.from({ length: frame.cells }, (_, cell) => (frame.startMs / hourMs + cell) % 24)
  return Object.entries(metrics).flatMap(([metric, values]) => {
    const hourly = binMeans(times.subarray(from), values.subarray(from, to), frame)
    const given = { metric, hourly, localHours, startMs: frame.startMs, quantum: 0, isControlled: false }
    return levelFinding(given) ?? []
  })
}

function regular(stepMs: number): Float64Array {
  return Float64Array.from({ length: (days * dayMs) / stepMs }, (_, place) => startMs + place * stepMs)
}

/** A slow level that wanders by about one, at any times. */
function wandering(timesMs: Float64Array, memory: number, seed: number): (place: number) => number {
  const hourly = autoregressive(days * 24 + 2, memory, seed).map(value => value * Math.sqrt(1 - memory ** 2))
  return place => {
    const at = ((timesMs[place] as number) - startMs) / hourMs
    const hour = Math.floor(at)
    const [one, next] = [hourly[hour] as number, hourly[hour + 1] as number]
    return one + (at - hour) * (next - one)
  }
}

const rounded = (value: number, quantum: number) => Math.round(value / quantum) * quantum

function weather(timesMs: Float64Array, quantum: number, seed: number): World['metrics'] {
  const [quick, slow, damp, air] = [0.9, 0.995, 0.95, 0.99].map((memory, place) =>
    wandering(timesMs, memory, 7919 * seed + place),
  ) as [(place: number) => number, (place: number) => number, (place: number) => number, (place: number) => number]
  const noise = autoregressive(timesMs.length, 0, 104_729 + seed)
  const values = (of: (place: number, day: number) => number, step: number) =>
    timesMs.map((timeMs, place) => rounded(of(place, Math.sin((2 * Math.PI * timeMs) / dayMs)), step))
  return {
    temperature: values(
      (place, day) => 12 + 4 * day + 1.5 * quick(place) + 3 * slow(place) + 0.1 * (noise[place] as number),
      quantum,
    ),
    humidity: values((place, day) => Math.min(100, 70 - 12 * day + 8 * damp(place)), 10 * quantum),
    pressure: values((place, day) => 1013 + 0.5 * day + 7 * air(place) + 0.05 * (noise[place] as number), quantum),
  }
}

function indoor(timesMs: Float64Array, quantum: number, seed: number): World['metrics'] {
  const slow = wandering(timesMs, 0.99, 31 * seed)
  const damp = wandering(timesMs, 0.97, 37 * seed)
  return {
    temperature: timesMs.map((timeMs, place) =>
      rounded(21 + 0.5 * Math.sin((2 * Math.PI * timeMs) / dayMs) + 0.5 * slow(place), quantum),
    ),
    humidity: timesMs.map((_, place) => rounded(45 + 4 * damp(place), 10 * quantum)),
  }
}

/** A compressor every 40 minutes, and defrosts that warm by 6 K for half an hour. */
function freezer(timesMs: Float64Array, quantum: number, defrostMs: number, seed: number): World['metrics'] {
  const noise = autoregressive(timesMs.length, 0, seed)
  return {
    temperature: timesMs.map((timeMs, place) => {
      const sinceDefrostMs = (timeMs - startMs) % defrostMs
      const defrost = sinceDefrostMs < 30 * minuteMs ? 6 * Math.sin((Math.PI * sinceDefrostMs) / (30 * minuteMs)) : 0
      return rounded(
        -18 + 0.7 * Math.sin((2 * Math.PI * timeMs) / (40 * minuteMs)) + defrost + 0.1 * (noise[place] as number),
        quantum,
      )
    }),
  }
}

/** Of an office: empty at night and at the weekend; `hour` is of a week. */
const further: Readonly<Record<string, (hour: number, noise: number, slow: number) => number>> = {
  co2: (hour, noise, slow) => rounded(420 + (isBusy(hour) ? 300 + 80 * slow : 0) + 4 * noise, 10),
  light: (hour, noise) => (hour % 24 < 6 || hour % 24 > 20 ? 0 : Math.round(2000 + 300 * noise)),
  probe: (hour, noise, slow) => rounded(19 + (isBusy(hour) ? 2 : 0) + 0.5 * slow + 0.05 * noise, 0.0625),
  dust: (_, noise, slow) => Math.max(0, Math.round(2 * slow + noise)),
  set_point: hour => (isBusy(hour) ? 21 : 17),
}
const isBusy = (hour: number) => hour % 24 >= 8 && hour % 24 < 18 && hour < 120

function office(timesMs: Float64Array, seed: number): World['metrics'] {
  return Object.fromEntries(
    Object.entries(further).map(([name, of], place) => {
      const noise = autoregressive(timesMs.length, 0, 41 * seed + place)
      const slow = wandering(timesMs, 0.97, 43 * seed + place)
      const value = (timeMs: number, at: number) => of((timeMs / hourMs) % 168, noise[at] as number, slow(at))
      return [name, timesMs.map(value)]
    }),
  )
}

function poisson(perDay: number, seed: number): Float64Array {
  const next = uniform(seed)
  const times: number[] = []
  let timeMs = startMs
  while (timeMs < startMs + days * dayMs) {
    times.push(timeMs)
    timeMs -= (Math.log(1 - next()) * dayMs) / perDay
  }
  return Float64Array.from(times)
}

const lost = (timesMs: Float64Array, share: number, seed: number) => {
  const next = uniform(seed + 17)
  return timesMs.filter(() => next() >= share)
}

const worlds: readonly { readonly name: string; readonly made: (seed: number) => World }[] = [
  { name: 'outdoors', made: seed => worldOf(regular(5 * minuteMs), times => weather(times, 0.1, seed)) },
  { name: 'outdoors in fine steps', made: seed => worldOf(regular(5 * minuteMs), times => weather(times, 0.01, seed)) },
  { name: 'outdoors, by the hour', made: seed => worldOf(regular(hourMs), times => weather(times, 0.1, seed)) },
  {
    name: 'outdoors with 10 % lost',
    made: seed => worldOf(lost(regular(10 * minuteMs), 0.1, seed), times => weather(times, 0.1, seed)),
  },
  { name: 'indoors', made: seed => worldOf(regular(5 * minuteMs), times => indoor(times, 0.1, seed)) },
  { name: 'indoors in steps of 0.5', made: seed => worldOf(regular(10 * minuteMs), times => indoor(times, 0.5, seed)) },
  ...[5, 10, 60].flatMap(stepMinutes =>
    [8, 24].map(defrostHours => ({
      name: `in a freezer, every ${stepMinutes} min, with a defrost every ${defrostHours} h`,
      made: (seed: number) =>
        worldOf(regular(stepMinutes * minuteMs), times => freezer(times, 0.1, defrostHours * hourMs, seed)),
    })),
  ),
  ...[1, 10].map(stepMinutes => ({
    name: `in an office with further gauges, every ${stepMinutes} min`,
    made: (seed: number) => worldOf(regular(stepMinutes * minuteMs), times => office(times, seed)),
  })),
  { name: 'at 50 random times a day', made: seed => worldOf(poisson(50, seed), times => indoor(times, 0.1, seed)) },
]

function worldOf(timesMs: Float64Array, metrics: (timesMs: Float64Array) => World['metrics']): World {
  return { timesMs, metrics: metrics(timesMs) }
}

/** A moment of the last week, some hours from its ends. */
const brokenMs = (seed: number) => startMs + (days - 6.5 + 5 * uniform(seed)()) * dayMs

interface Broken {
  readonly code: Finding['code']
  readonly name: string
  readonly made: (seed: number) => World
}

const outdoors = (seed: number) => worldOf(regular(5 * minuteMs), times => weather(times, 0.1, seed))

/** The weather with something changed in its temperature, from a moment of the last week on. */
function changed(seed: number, change: (value: number, sinceMs: number, place: number) => number): World {
  const world = outdoors(seed)
  const fromMs = brokenMs(seed)
  const temperature = (world.metrics['temperature'] as Float64Array).map((value, place) => {
    const sinceMs = (world.timesMs[place] as number) - fromMs
    return sinceMs < 0 ? value : change(value, sinceMs, place)
  })
  return { ...world, metrics: { ...world.metrics, temperature } }
}

function without(isOut: (timeMs: number, seed: number) => boolean) {
  return (seed: number) => {
    const world = outdoors(seed)
    const isKept = world.timesMs.map(timeMs => (isOut(timeMs, seed) ? 0 : 1))
    const keep = (values: Float64Array) => values.filter((_, place) => isKept[place] === 1)
    return {
      timesMs: keep(world.timesMs),
      metrics: Object.fromEntries(Object.entries(world.metrics).map(([name, values]) => [name, keep(values)])),
    }
  }
}

const broken: readonly Broken[] = [
  {
    code: 'stuck',
    name: 'a thermometer that stands still for 12 hours',
    made: seed => changed(seed, (value, sinceMs) => (sinceMs < 12 * hourMs ? 11.3 : value)),
  },
  {
    code: 'stuck',
    name: 'a CO2 sensor that stands still for a day',
    made: seed => {
      const world = worldOf(regular(5 * minuteMs), times => office(times, seed))
      const from = world.timesMs.findIndex(timeMs => timeMs > brokenMs(seed))
      const co2 = (world.metrics['co2'] as Float64Array).slice().fill(510, from, from + 288)
      return { ...world, metrics: { ...world.metrics, co2 } }
    },
  },
  {
    code: 'out_of_range',
    name: 'a broken wire for two hours',
    made: seed => changed(seed, (value, sinceMs) => (sinceMs < 2 * hourMs ? -127 : value)),
  },
  {
    code: 'spikes',
    name: 'one value in fifty off by 15 K',
    made: seed => {
      const next = uniform(seed + 3)
      return changed(seed, value => (next() < 0.02 ? value + 15 : value))
    },
  },
  { code: 'silent_metric', name: 'a thermometer that has come off', made: seed => changed(seed, () => Number.NaN) },
  {
    code: 'level_change',
    name: 'a freezer that is 3 K warmer for ten days',
    made: seed => {
      const world = worldOf(regular(10 * minuteMs), times => freezer(times, 0.1, 8 * hourMs, seed))
      const fromMs = startMs + (days - 10 - uniform(seed)()) * dayMs
      const temperature = world.metrics['temperature'] as Float64Array
      const warmer = temperature.map((value, place) => value + ((world.timesMs[place] as number) < fromMs ? 0 : 3))
      return { ...world, metrics: { temperature: warmer } }
    },
  },
  {
    code: 'outage',
    name: 'an outage of four hours',
    made: without((timeMs, seed) => timeMs > brokenMs(seed) && timeMs < brokenMs(seed) + 4 * hourMs),
  },
  {
    code: 'outage_pattern',
    name: 'three hours missing every night',
    made: without(timeMs => timeMs % dayMs > 2 * hourMs && timeMs % dayMs < 5 * hourMs),
  },
]

/** As insights of a fleet look at gauges: by the extremes of six hours. */
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
    return run === undefined || (run.value === 0 && Object.hasOwn(further, name)) ? [] : [name]
  })
}

const fleetStretches = 60

export const findingsProperties: readonly Property[] = [
  ...worlds.map(({ name, made }) => ({
    name: `a gauge that stands still by the hours of a fleet, on any day of two weeks of a healthy device ${name}`,
    atMost: 0.05,
    shortRuns: 3,
    run: (seed: number) => {
      const world = made(seed)
      const lastDays = Array.from({ length: 14 }, (_, day) => startMs + (days - day) * dayMs)
      return lastDays.some(endMs => standingIn(world, endMs).length > 0)
    },
  })),
  {
    name: 'a thermometer that stands still for 36 hours is found by the hours of a fleet',
    atLeast: 0.95,
    shortRuns: 5,
    run: seed => {
      const endMs = startMs + days * dayMs
      const world = outdoors(seed)
      const temperature = (world.metrics['temperature'] as Float64Array).map((value, place) => {
        return (world.timesMs[place] as number) < endMs - 36 * hourMs ? value : 11.3
      })
      return standingIn({ ...world, metrics: { temperature } }, endMs).includes('temperature')
    },
  },
  ...worlds.map(({ name, made }) => ({
    name: `more than one finding in a month of a healthy device ${name}`,
    atMost: 0.05,
    shortRuns: 3,
    run: (seed: number) => findingsOfMonth(made(seed)).length > 1,
  })),
  ...broken.map(({ code, name, made }) => ({
    name: `${code}: ${name} is found`,
    atLeast: 0.95,
    shortRuns: 5,
    run: (seed: number) => findingsAt(made(seed), startMs + days * dayMs).some(finding => finding.code === code),
  })),
]
