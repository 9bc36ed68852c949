/** Whatever fields are called and hold, every way in has the same verdict and stores the same. */

import fc from 'fast-check'
import tap from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { measurementsTable, readingsTable } from '../../store/tables.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'
import { waysInto } from '../support/ways-in.ts'

const good = { temperature: 21.5, humidity: 48, pressure: 1013.2 }

/** What a sender may come up with: names that stand for the same metric, for none, or are too long, and any of their values. */
const fieldName = fc.oneof(
  fc.constantFrom(
    'co2',
    'CO2',
    'co2_ppm',
    'PM2.5',
    'pm2_5',
    'windSpeed',
    'wind speed',
    'door',
    'sap_flow',
    'dew_point',
  ),
  fc.constantFrom(
    '%',
    '°',
    '__proto__',
    'constructor',
    'toString',
    'Soil-Moisture',
    'date',
    'x'.repeat(64),
    'x'.repeat(65),
  ),
  fc.stringMatching(/^[a-zA-Zé中µ°%/._-]{1,12}( [a-z0-9,=]{1,6})?$/),
)
const fieldValue = fc.oneof(
  fc.constantFrom(true, false, null, 'dry', 'NaN', 'Infinity', 0, -0, 1, 0.1, 1e-300, 1e15, 1e16, -1e300, 5e-324),
  fc.constantFrom(0.123_456_789_012_345_68, 123_456_789_012_345_680_000, 9_007_199_254_740_992),
  fc.integer({ min: -1000, max: 1000 }),
)
const columns = new Set(['device', 'timestamp', 'temperature', 'humidity', 'pressure'])

tap.test('whatever fields are called and hold, every way in has the same verdict and stores the same', async t => {
  const port = await freePort()
  const environment = { MQTT_PORT: String(port), LINE_PROTOCOL_UNKNOWN_FIELDS: 'ignore' }
  const service = await startService(t, { environment })
  const ways = Object.entries(await waysInto(t, service, port))
  const firstMs = Date.UTC(2026, 0, 1)
  let runs = 0
  let storedCount = 0
  const property = fc.asyncProperty(
    fc.dictionary(fieldName, fieldValue, { maxKeys: 8, noNullPrototype: true }),
    async made => {
      const fields = Object.fromEntries(Object.entries(made).filter(([name]) => !columns.has(name)))
      const run = runs++
      // Each way is the first one at times.
      const order = ways.map((_, at) => (at + run) % ways.length)
      const verdicts = new Map<number, boolean>()
      for (const way of order) {
        const reading = { timestamp: firstMs + way * 86_400_000 + run * 1000, device: 'hall', ...good, ...fields }
        verdicts.set(way, (await ways[way]?.[1](reading)) ?? false)
      }
      const isStored = verdicts.get(0) === true
      if (isStored) storedCount++
      for (const [way, verdict] of verdicts) if (verdict !== isStored) throw new Error(`${ways[way]?.[0]}: ${verdict}`)
    },
  )
  await fc.assert(property, { numRuns: 60 })
  t.ok(storedCount > 10)
  // The last value of each way: when it is there, all before it are.
  const lastMs = runs * 1000
  for (const [way, [, send]] of ways.entries()) {
    const timestamp = firstMs + way * 86_400_000 + lastMs
    t.ok(await send({ timestamp, device: 'hall', ...good, co2: 600 }))
  }
  storedCount++
  const rowsOf = async (sql: string) => await askQuestdb(service.dataDirectory, sql)
  const count = async () => (await rowsOf(`SELECT count() FROM ${readingsTable}`).catch(() => []))[0]?.[0]
  await until('all readings are there', async () => (await count()) === storedCount * ways.length)
  const custom = async () =>
    await rowsOf(`SELECT ts, series, value FROM ${measurementsTable} WHERE value IS NOT NULL ORDER BY ts, series`)
  let rows = await custom()
  const ofWay = (way: number) =>
    rows
      .map(([ts, series, value]) => [Date.parse(String(ts)) - firstMs - way * 86_400_000, series, value] as const)
      .filter(([timeMs]) => timeMs >= 0 && timeMs < 86_400_000)
  // They may be visible after their readings.
  await until('the last value of each way is there', async () => {
    rows = await custom()
    return ways.every((_, way) => ofWay(way).at(-1)?.[0] === lastMs)
  })
  t.ok(ofWay(0).length > 10)
  for (const [way, [name]] of ways.entries()) t.strictSame(ofWay(way), ofWay(0), name)
})
