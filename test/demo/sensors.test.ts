/** The live sensors: what they send, and what they do when they are refused. */

import t, { type Test } from 'tap'
import { runSensor, type Sensor } from '../../demo/sensors.ts'
import { modelledStations } from '../../demo/stations.ts'
import { createRandom, measured, modelWeather, pressureAt, seedOf } from '../../demo/weather.ts'
import { createReadingCheck } from '../../ingest/reading.ts'
import { startAnswering } from '../support/answering-server.ts'

const sensor: Sensor = {
  name: 'roof',
  password: 'abc',
  battery: true,
  random: createRandom(1),
  air: () => ({ temperature: 10, humidity: 50, pressure: 1000 }),
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
  t.notSame(seen[4]?.body, seen[0]?.body, 'the next one is measured anew')
  t.strictSame(faults, ['roof: 503 {}'], 'a fault is told once')
})

t.test('a sensor that pauses sends nothing meanwhile, and goes on', async t => {
  const stop = new AbortController()
  const { url, seen } = await startAnswering(t, (_request, index, response) => {
    if (index === 2) response.on('close', () => stop.abort())
    return { status: 200, text: '{}' }
  })
  // Of each 40 moments of its clock the last 30 are a pause.
  let tick = 0
  const told: number[] = []
  const now = () => {
    told.push(tick)
    return tick++
  }
  const pausing = { ...sensor, random: () => 0, pauses: { everyMs: 40, lastMs: 30 } }
  await runSensor(pausing, { url, now, intervalMs: 0, retryDelayMs: 5, signal: stop.signal, onFault: () => {} })
  t.equal(seen.length, 3)
  t.ok(told.length > 30, `${told.length} moments were looked at`)
})

t.test('a sensor that is refused for good says so and stops', async t => {
  const { seen, faults } = await runAgainst(t, [200, 401], 10)
  t.equal(seen.length, 2)
  t.strictSame(faults, ['roof: 401 {}'])
})

t.test('what any modelled sensor measures in a year is a reading that the service takes', async t => {
  const check = createReadingCheck()
  modelledStations.forEach((station, index) => {
    const random = createRandom(seedOf(station.name))
    for (let timeMs = Date.UTC(2026, 0, 1); timeMs < Date.UTC(2027, 0, 1); timeMs += 3_599_000) {
      const reading = measured(modelWeather(station, timeMs, index / 5), random)
      const checked = check({ ...reading }, false, timeMs)
      if (!checked.ok) t.strictSame(checked.errors, {}, station.name)
      if (reading.humidity < 5 || reading.humidity > 100) t.fail(`${station.name} has ${reading.humidity} % humidity`)
    }
  })
  t.ok(Math.abs(pressureAt(2317) - 765) < 2)
})

t.test('the same seed gives the same numbers, another one gives others', async t => {
  const numbers = (seed: number) => Array.from({ length: 1000 }, createRandom(seed))
  t.strictSame(numbers(7), numbers(7))
  t.notSame(numbers(7), numbers(8))
  const mean = numbers(7).reduce((sum, value) => sum + value, 0) / 1000
  t.ok(mean > 0.45 && mean < 0.55)
})
