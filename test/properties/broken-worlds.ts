/** Months of made devices with something broken in the last week. */

import type { Finding } from '../../analytics/findings/finding.ts'
import { minuteMs, uniform } from '../analytics/series.ts'
import {
  battery,
  coldChain,
  dayMs,
  days,
  freezer,
  hourMs,
  office,
  outdoors,
  regular,
  startMs,
  type World,
  worldOf,
} from './healthy-worlds.ts'

/** A moment of the last week, some hours from its ends. */
const brokenMs = (seed: number) => startMs + (days - 6.5 + 5 * uniform(seed)()) * dayMs

interface Broken {
  readonly code: Finding['code']
  readonly name: string
  readonly made: (seed: number) => World
}

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

export const brokenWorlds: readonly Broken[] = [
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
  ...[1, 10].map(
    (stepMinutes): Broken => ({
      code: 'excursion',
      name: `a refrigerator with 40 doors a day whose door stands open for two hours, read every ${stepMinutes} min,`,
      made: seed => {
        const world = coldChain(stepMinutes, seed)
        const sinceMs = (timeMs: number) => timeMs - brokenMs(seed)
        const temperature = (world.metrics['temperature'] as Float64Array).map((value, place) => {
          const since = sinceMs(world.timesMs[place] as number)
          return since >= 0 && since < 2 * hourMs ? value + 5 : value
        })
        return { ...world, metrics: { temperature } }
      },
    }),
  ),
  {
    code: 'battery_days',
    name: 'a lithium-ion cell with ten days left',
    made: seed => {
      const world = outdoors(seed)
      // Three quarters are left at the start.
      const battery_voltage = battery(world.timesMs, 'li-ion', (days + 10) / 0.75, seed)
      const device = { battery_type: 'li-ion' } as const
      return { ...world, metrics: { ...world.metrics, battery_voltage }, device }
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
