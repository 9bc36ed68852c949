/** The generator of the benchmarks: what its seed gives, and what its formats say. */

import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { type FleetPlan, orders, type SentReading, sentReadings } from '../../bench/fleet.ts'
import { bulkFormats } from '../../bench/ingest-formats.ts'

const startMs = Date.UTC(2026, 0, 1)
const stepMs = 60_000

const plans = fc.record({ devices: fc.integer({ min: 1, max: 120 }), rows: fc.integer({ min: 1, max: 600 }) })
const planOf = (size: { devices: number; rows: number }, order: FleetPlan['order'], seed = 7): FleetPlan => {
  return { ...size, seed, order, startMs, endMs: startMs + Math.ceil(size.rows / size.devices) * stepMs }
}
const keyOf = ({ device, timeMs }: { device: string; timeMs: number }) => `${device} ${timeMs}`

test('every order has the same readings, and only a fleet sends some of them twice', t => {
  fc.assert(
    fc.property(plans, size => {
      const [time = [], scattered = [], fleet = []] = orders.map(order => [...sentReadings(planOf(size, order))])
      const known = new Map(time.map(reading => [keyOf(reading), reading]))
      deepStrictEqual([time.length, known.size, scattered.length], [size.rows, size.rows, size.rows])
      deepStrictEqual(new Set(scattered.map(keyOf)), new Set(known.keys()))
      deepStrictEqual(new Set(fleet.map(keyOf)), new Set(known.keys()))
      for (const reading of fleet) deepStrictEqual(reading, known.get(keyOf(reading)))
    }),
    { numRuns: 30 },
  )
  t.end()
})

test('a fleet has late readings, duplicates and bursts; another seed gives another one', t => {
  const plan = planOf({ devices: 100, rows: 20_000 }, 'fleet')
  const sent = [...sentReadings(plan)]
  const textOf = (readings: Iterable<SentReading>) => Array.from(readings, keyOf).join()
  t.ok(textOf(sentReadings(plan)) === textOf(sent), 'the same seed gives the same fleet')
  t.ok(textOf(sentReadings({ ...plan, seed: 8 })) !== textOf(sent), 'another seed another one')
  t.ok(sent.length > plan.rows * 1.003 && sent.length < plan.rows * 1.007, `${sent.length} with the duplicates`)
  const newestMs = new Map<string, number>()
  let late = 0
  for (const { device, timeMs } of sent) {
    if (timeMs < (newestMs.get(device) ?? 0)) late++
    newestMs.set(device, Math.max(timeMs, newestMs.get(device) ?? 0))
  }
  t.ok(late > plan.rows * 0.005 && late < plan.rows * 0.05, `${late} after a newer one`)
  t.end()
})

test('every format says the same of a reading', t => {
  const [reading] = sentReadings(planOf({ devices: 1, rows: 1 }, 'time'))
  if (reading === undefined) throw new Error('no reading')
  const timestamp = new Date(reading.timeMs).toISOString()
  const bodies = Object.fromEntries(Object.entries(bulkFormats).map(([name, { body }]) => [name, body([reading])]))
  t.strictSame(JSON.parse(bodies['json'] ?? ''), [{ timestamp, device: 'logger 0', ...reading.values }])
  t.strictSame([JSON.parse(bodies['ndjson'] ?? '')], JSON.parse(bodies['json'] ?? ''))
  const [header = '', line = ''] = (bodies['csv'] ?? '').split('\n').map(each => each.split(','))
  const cells = Object.fromEntries([...header].map((name, at) => [name, line[at]]))
  const numbers = Object.fromEntries(Object.entries(reading.values).map(([name, value]) => [name, value.toFixed(2)]))
  t.strictSame(cells, { timestamp, device: 'logger 0', ...numbers })
  const fields = Object.entries(numbers).map(([name, value]) => `${name}=${value}`)
  t.equal(bodies['line-protocol'], `posted,device=logger\\ 0 ${fields.join()} ${reading.timeMs}000000\n`)
  t.end()
})
