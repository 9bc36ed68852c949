/** A program of the generated client like an external one: `round.ts URL TOKEN`. */

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  adminAddDevices,
  adminGetDevice,
  adminListDevices,
  adminRemoveDevice,
  defaults,
  type Fleet,
  logBatch,
  logReading,
  type NewReading,
  type RangeReadings,
  readDay,
  readDevice,
  readFleet,
  readLatest,
  readLatestOfDevice,
  readRange,
  readStatistics,
} from './client.ts'

const [url = '', token = ''] = process.argv.slice(2)
defaults.baseUrl = url
const asAdmin = { headers: { authorization: `Bearer ${token}` } }
const device = 'openapi-porch'
const tag = 'round:openapi'
const attemptsMax = 3_000

const added = await adminAddDevices({ name: device, location_short: 'Porch', quality_limits: {}, tags: [tag] }, asAdmin)
assert(added.status === 201 && !Array.isArray(added.data))
const { password } = added.data
const asDevice = { headers: { authorization: `Basic ${btoa(`${device}:${password}`)}` } }

const twice = await adminAddDevices([{ name: device }], asAdmin)
assert(twice.status === 409)
assert.equal(twice.data.title, 'name taken')

const first: NewReading = { device, temperature: 21.4, humidity: 48, pressure: 1013.2 }
const stored = await logReading(first, {}, asDevice)
assert(stored.status === 200)
assert.equal(stored.data.ignored, undefined)

const partly = await logReading({ ...first, temperature: 1000, timestamp: Date.now() - 7_200_000 }, {}, asDevice)
assert(partly.status === 200)
assert.deepEqual(partly.data.ignored, ['temperature'])
const refused = await logReading({ device, temperature: 1000 }, {}, asDevice)
assert(refused.status === 400)
assert.equal(typeof refused.data.errors?.['temperature'], 'string')

const startMs = Date.now() - 3_600_000
const earlier = [0, 1, 2].map(
  (minute): NewReading => ({ ...first, temperature: 20 + minute, timestamp: startMs + minute * 60_000 }),
)
const batch = await logBatch([...earlier, { ...first, timestamp: 'x' }], {}, asDevice)
assert(batch.status === 200)
const { rejects } = batch.data
assert.deepEqual([batch.data.stored, batch.data.rejected, rejects[0]?.index], [3, 1, 3])

const range = await readAll(4)
const temperatures = range.map(({ temperature }) => temperature)
assert.deepEqual(temperatures, [20, 21, 22, 21.4])

const of = await readDevice(device)
assert(of.status === 200)
assert.equal(of.data.location_short, 'Porch')

const latest = await answered(() => readLatest(24))
assert(latest.status === 200)
assert.equal(latest.data.data.find(one => one.device === device)?.temperature.at(-1)?.v, 21.4)

const last = await answered(() => readLatestOfDevice(device))
assert(last.status === 200)
assert.equal(last.data.values.humidity?.v, 48)

const day = await answered(() => readDay(device, new Date(startMs).toISOString().slice(0, 10)))
assert(day.status === 200)
assert.equal(day.data.temperature[0]?.v, 20)

const statistics = await answered(() => readStatistics(device, { days: 7 }))
assert(statistics.status === 200)
assert.equal(statistics.data.aggregates.temperature.count > 0, true)

const fleet = await answered(() => readFleet({ order: 'name', limit: 1, tag: [tag] }))
assert(fleet.status === 200)
const { counts, devices }: Fleet = fleet.data
assert.deepEqual([counts.fresh, devices[0]?.device, devices[0]?.state], [1, device, 'fresh'])

const unknown = await readDay('nobody', '2026-01-01')
assert(unknown.status === 404)
assert.equal(unknown.data.status, 'device unknown')

const listed = await adminListDevices({ search: device }, asAdmin)
assert(listed.status === 200)
assert.equal(listed.data.devices[0]?.name, device)

const removed = await adminRemoveDevice(device, asAdmin)
assert(removed.status === 204)
const gone = await adminGetDevice(device, asAdmin)
assert(gone.status === 404)
assert.equal(gone.data.title, 'device unknown')

/** A service that is busy says so, and is asked again. */
async function answered<Answer extends { status: number }>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask()
    if (answer.status !== 503 || attempt === attemptsMax) return answer
    await sleep(100)
  }
}

/** A reading that is stored can be queried a moment later. */
async function readAll(count: number): Promise<RangeReadings> {
  for (let attempt = 1; ; attempt++) {
    const range = await answered(() => readRange(device, new Date(startMs - 1).toISOString()))
    assert(range.status === 200 && attempt < attemptsMax)
    if (range.data.length === count) return range.data
    await sleep(100)
  }
}
