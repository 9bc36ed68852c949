/** The live sensors: their requests, and their reaction to refusals. */

import t, { type Test } from 'tap'
import { createRandom } from '../../../cli/demo/noise.ts'
import { createReadings } from '../../../cli/demo/readings.ts'
import { runSensor, type Sensor } from '../../../cli/demo/sensors.ts'
import { stations } from '../../../cli/demo/stations.ts'
import { pressureAt } from '../../../cli/demo/weather.ts'
import { createReadingCheck } from '../../../ingest/reading.ts'
import { startAnswering } from '../../support/answering-server.ts'

const sensor: Sensor = {
  name: 'roof',
  password: 'abc',
  random: createRandom(1),
  readings: timeMs => ({ temperature: 10, humidity: 50, pressure: 1000, battery_voltage: 3.6, co2: timeMs % 1000 }),
}

/** Answers with the given statuses in turn, then with 200, and stops the sensors after so many requests. */
async function runAgainst(t: Test, statuses: number[], requestsMax: number) {
  const faults: string[] = []
  const stop = new AbortController()
  const { url, seen } = await startAnswering(t, (_request, index, response) => {
    if (index + 1 === requestsMax) response.on('close', () => stop.abort())
    return { status: statuses[index] ?? 200, text: '{}' }
  })
  const onFault = (name: string, fault: string) => faults.push(`${name}: ${fault}`)
  await runSensor(sensor, { url, now: Date.now, intervalMs: 5, retryDelayMs: 5, signal: stop.signal, onFault })
  return { seen, faults }
}

t.test('a reading that is refused for now is sent again, the same', async t => {
  const { seen, faults } = await runAgainst(t, [503, 429, 500], 5)
  t.equal(seen.length, 5)
  t.equal(seen[0]?.headers.authorization, `Basic ${Buffer.from('roof:abc').toString('base64')}`)
  t.strictSame(seen[1]?.body, seen[0]?.body)
  t.strictSame(seen[3]?.body, seen[0]?.body)
  t.notSame(seen[4]?.body, seen[0]?.body, 'the next one is a new measurement')
  t.strictSame(faults, ['roof: 503 {}'], 'a fault is logged once')
})

t.test('a sensor that is refused for good says so and stops', async t => {
  const { seen, faults } = await runAgainst(t, [200, 401], 10)
  t.equal(seen.length, 2)
  t.strictSame(faults, ['roof: 401 {}'])
})

const startedMs = Date.UTC(2026, 8, 1, 10, 20)

t.test("the service accepts every device's measurements of a year", async t => {
  const check = createReadingCheck()
  for (const station of stations) {
    const readings = createReadings(station, startedMs)
    for (let timeMs = Date.UTC(2026, 0, 1); timeMs < Date.UTC(2027, 0, 1); timeMs += 3_599_000) {
      const { co2 = 400, wind_speed = 0, wind_direction = 0, ...reading } = readings(timeMs)
      const checked = check({ ...reading }, timeMs)
      if (!checked.ok) t.strictSame(checked.errors, {}, station.name)
      const isFair = co2 > 300 && co2 < 2000 && wind_speed < 40 && wind_direction < 360 && wind_direction >= 0
      if (!isFair) t.fail(`${station.name}: ${co2} ppm, ${wind_speed} m/s from ${wind_direction}°`)
    }
  }
  t.ok(Math.abs(pressureAt(2317) - 765) < 2)
})
