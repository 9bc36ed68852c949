/** Devices that changed differently from similar ones, in small explicit fleets. */

import { test } from 'tap'
import { fleetChanges } from '../../../analytics/fleet/changes.ts'
import { comparedDays, quartersPerDay } from '../../../analytics/fleet/day-changes.ts'
import { uniform } from '../series.ts'

const quarters = comparedDays * quartersPerDay
const lastDay = quarters - quartersPerDay

interface Device {
  mean: (quarter: number) => number
  tags?: readonly string[]
}

function listed(devices: readonly Device[], differenceMin: number | null = 2) {
  const table = {
    devices: devices.length,
    mean: (device: number, quarter: number) => devices[device]?.mean(quarter) ?? 0,
  }
  return fleetChanges(table, { tagsOf: device => devices[device]?.tags ?? [], differenceMin })
}

/** A daily cycle, with different weather for each seed. */
function weather(seed: number): (quarter: number) => number {
  const next = uniform(seed)
  const days = Array.from({ length: comparedDays }, () => 8 * next() - 4)
  return quarter => 15 + 3 * (quarter % quartersPerDay) + (days[Math.floor(quarter / quartersPerDay)] as number)
}

function withNoise(mean: (quarter: number) => number, seed: number, more = 0): Device['mean'] {
  const next = uniform(seed)
  const noise = Array.from({ length: quarters }, () => 0.4 * next() - 0.2)
  return quarter => mean(quarter) + (noise[quarter] as number) + (quarter >= lastDay ? more : 0)
}

test('a tag with five devices defines similar ones', async t => {
  const tagged = (at: number, tags: string[], more = 0) => ({ mean: withNoise(weather(30 + at), 40 + at, more), tags })
  // Each has different weather: only the tag shows that all devices of one room have warmed.
  const room = Array.from({ length: 6 }, (_, at) => tagged(at, ['room:1', 'site:a'], 40))
  t.strictSame(listed(room), [])
  const four = [...room.slice(0, 4), ...Array.from({ length: 30 }, (_, at) => tagged(50 + at, []))]
  t.equal(listed(four).length, 4, 'four are no group, and few of those that have nothing in common')
})

test('a change of a quarter of all devices is external', async t => {
  const alone = (at: number, more: number) => ({ mean: withNoise(() => 20, 60 + at, more) })
  t.equal(listed(Array.from({ length: 20 }, (_, at) => alone(at, at < 4 ? 5 : 0))).length, 4)
  t.strictSame(listed(Array.from({ length: 20 }, (_, at) => alone(at, at < 5 ? 5 : 0))), [])
})

test('a device without the whole last day, or with few days before it, is not compared', async t => {
  const steady = withNoise(() => 20, 80, 9)
  const without = (isMissing: (quarter: number) => boolean) =>
    listed([{ mean: q => (isMissing(q) ? Number.NaN : steady(q)) }])
  const [only, ...others] = without(() => false)
  t.match([only, others], [{ device: 0, peers: 0 }, []], 'by its own days')
  const [lastQuarter, nineDays] = [without(at => at === lastDay), without(at => at < 4 * quartersPerDay + 1)]
  t.strictSame([lastQuarter, nineDays], [[], []])
  t.equal(without(at => at < 4 * quartersPerDay).length, 1, 'ten days')
})

test('the default limit is three usual deviations', async t => {
  t.equal(listed([{ mean: withNoise(() => 400, 90, 5) }], null).length, 1)
  t.strictSame(listed([{ mean: quarter => (quarter >= lastDay ? 1 : 0) }], null), [])
  t.equal(listed([{ mean: quarter => (quarter >= lastDay ? 5 : 0) }]).length, 1)
})
