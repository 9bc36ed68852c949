/** Hours of a device come from QuestDB's view if it has all readings. They must equal the hours of the readings. */

import t, { type Test, test } from 'tap'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { openIngest } from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import type { Reading } from '../../ingest/reading.ts'
import { type DeviceRef, readingLength, writeReading } from '../../ingest/readings-table.ts'
import { answerInsights } from '../../query/insights.ts'
import type { HourlySeries } from '../../query/series.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { watchHourlyView } from '../../store/questdb/hourly-view.ts'
import { hourlyAggregates, metrics } from '../../store/tables.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'
import { device } from '../support/journal-parts.ts'
import { nothingKnown, plainEntry } from '../support/plain-device.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { questdbRows } from '../support/questdb-rows.ts'
import { openReadingsSource } from '../support/readings-source.ts'

const { address } = await startQuestdb(t)
const ingest = openIngest({
  directory: temporaryFolder(t),
  journalBytesMax: 1e9,
  reserveBytes: 0,
  keepMs: 0,
  clock: createWallClock({ nowMs: Date.now }),
  log: silentLog,
  onFatal: error => {
    throw error
  },
})
t.teardown(() => ingest.close())
ingest.startForwarding(address.http, true)
const view = watchHourlyView({
  address,
  ready: Promise.resolve(),
  isUp: () => true,
  timing: { refreshEveryMs: 200, checkEveryMs: 50, graceMs: 0 },
  log: silentLog,
})
t.teardown(() => view.close())
const source = openReadingsSource(t, address)

const never = new AbortController().signal
const hourUs = 3_600_000_000
const fromUs = Date.UTC(2025, 9, 20, 0, 20) * 1000
const toUs = fromUs + 4 * 24 * hourUs
/** Up to 65 readings share an hour, so that most hours have several. */
const stepUs = 55_000_000

function rawFromUs(): number {
  const txn = view.validThroughTxn()
  return txn === undefined ? Number.NEGATIVE_INFINITY : ingest.replicas[0].oldestSentSince(txn)
}

function hoursOf({ symbol }: DeviceRef, from = Number.NEGATIVE_INFINITY): Promise<HourlySeries> {
  return source.hourly({ symbol, fromUs, toUs, rawFromUs: from, expiredBeforeUs: Number.NEGATIVE_INFINITY }, never)
}

function valuesAt(seed: number): Omit<Reading, 'timestampMs'> {
  const wave = (scale: number) => Math.round(Math.sin(seed * scale) * 1000) / 100
  return {
    temperature: wave(1.1),
    humidity: seed % 5 === 0 ? Number.NaN : 50 + wave(1.7),
    pressure: 1000 + wave(0.3),
    battery_voltage: seed % 3 === 0 ? 3.3 : Number.NaN,
    battery_percentage: 70,
  }
}

async function send(to: DeviceRef, timesUs: number[], seed: number, isLate: boolean): Promise<void> {
  const bytes = new Uint8Array(timesUs.length * readingLength(to))
  const data = new DataView(bytes.buffer)
  let offset = 0
  for (const [index, timeUs] of timesUs.entries()) {
    offset = writeReading(data, offset, to, timeUs, isLate, { timestampMs: undefined, ...valuesAt(seed + index) })
  }
  if ((await ingest.append(bytes)) !== 'stored') throw new Error('the journal is full')
}

async function settled(): Promise<void> {
  await until('all is applied', () => ingest.status().lag.rows === 0)
}

/** Hours that only one side has, or figures that differ by more than rounding. */
function differences(is: HourlySeries, wanted: HourlySeries): string[] {
  const starts = [...is.startsMs].join() === [...wanted.startsMs].join() ? [] : ['other hours']
  const columns = metrics.flatMap(metric => hourlyAggregates.map(aggregate => ({ metric, aggregate })))
  const wrong = columns.filter(({ metric, aggregate }) => {
    const tolerance = aggregate === 'std' ? 1e-10 : 1e-12
    return is.metrics[metric][aggregate].some((value, row) => {
      const other = wanted.metrics[metric][aggregate][row] as number
      return !Object.is(value, other) && !(Math.abs(value - other) <= tolerance * Math.max(1, Math.abs(other)))
    })
  })
  return [...starts, ...wrong.map(({ metric, aggregate }) => `${metric} ${aggregate}`)]
}

async function fill(of: DeviceRef): Promise<void> {
  const times = Array.from({ length: (toUs - fromUs) / stepUs }, (_, index) => fromUs + index * stepUs)
  await send(of, times, of.number, true)
  await settled()
}

async function refreshed(t: Test): Promise<void> {
  await until('the view has all', () => rawFromUs() === Number.POSITIVE_INFINITY)
  t.ok(view.validThroughTxn())
}

test('hours of a complete view equal hours of the readings', async t => {
  const of = device(1)
  await fill(of)
  await fill(device(2))
  await refreshed(t)
  const [fromView, fromReadings] = [await hoursOf(of, Number.POSITIVE_INFINITY), await hoursOf(of)]
  t.strictSame(differences(fromView, fromReadings), [])
  t.equal(fromReadings.startsMs.length, 97, 'the first and the last hour are cut by the range')
  const { temperature, battery_voltage } = fromReadings.metrics
  const inFirst = Array.from({ length: 44 }, (_, index) => valuesAt(1 + index).temperature)
  const mean = inFirst.reduce((sum, value) => sum + value) / inFirst.length
  t.equal(temperature.count[0], inFirst.length)
  t.ok(Math.abs((temperature.mean[0] as number) - mean) < 1e-12)
  t.equal(temperature.min[0], Math.min(...inFirst))
  t.equal(battery_voltage.std[0], 0)
})

test('insights of a fleet are equal from readings, from the view, and from both', async t => {
  const endUs = Math.floor(toUs / hourUs) * hourUs
  const fleet = Array.from({ length: 9 }, (_, index) => device(20 + index))
  for (const [place, of] of fleet.entries()) {
    const times = Array.from({ length: 64 }, (_, index) => endUs - index * 6 * hourUs - 90_000_000)
    const bytes = new Uint8Array(times.length * readingLength(of))
    const data = new DataView(bytes.buffer)
    times.reduce((offset, timeUs, index) => {
      const temperature = place === 8 && index < 4 ? 40 : 20 + place / 10
      const values = { temperature, humidity: Number.NaN, pressure: Number.NaN }
      const battery = { battery_voltage: Number.NaN, battery_percentage: place === 0 ? 50.25 + index / 4 : 80 }
      return writeReading(data, offset, of, timeUs, true, { timestampMs: undefined, ...values, ...battery })
    }, 0)
    if ((await ingest.append(bytes)) !== 'stored') throw new Error('the journal is full')
  }
  await settled()
  await refreshed(t)
  const connection = createPgConnection(address.pg, { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 })
  t.teardown(() => connection.close())
  const all = fleet.map(({ symbol }) => ({ ...plainEntry(symbol), batteryType: 'alkaline' as const, batteryCells: 2 }))
  const tell = (from: number, entries = all, narrowed = false) => {
    const hourSources = { rawFromUs: from, expiredBeforeUs: Number.NEGATIVE_INFINITY }
    const context = { connection, signal: never, local: createLocalTime('UTC') }
    return answerInsights({ fleet: '', known: nothingKnown, narrowed, nowUs: endUs, hourSources }, entries, context)
  }
  const fromView = await tell(Number.POSITIVE_INFINITY)
  t.match(JSON.parse(fromView), {
    batteries: [{ device: fleet[0]?.symbol, days_left: 50.1, percent_per_day: -1 }],
    outliers: [{ device: fleet[8]?.symbol, value: 40, median: 20.8 }],
  })
  t.equal(await tell(Number.NEGATIVE_INFINITY), fromView)
  t.equal(await tell(endUs - 33 * hourUs), fromView)
  // Without the warmest device, no other one stands out.
  const some = all.slice(0, 8)
  const ofSome = await tell(endUs - 33 * hourUs, some, true)
  t.match(JSON.parse(ofSome), { batteries_total: 1, outliers_total: 0 })
  t.equal(await tell(endUs - 33 * hourUs, some), ofSome)
  t.match(JSON.parse(await tell(endUs - 33 * hourUs, [], true)), { batteries_total: 0, outliers_total: 0 })
})

test('a late, a replaced and a new reading show at once', async t => {
  const of = device(3)
  await fill(of)
  await refreshed(t)
  const late = fromUs + 3 * 24 * hourUs + 1
  for (const [seed, timeUs] of [late, late, fromUs + 100 * stepUs, toUs - 1].entries()) {
    const before = await hoursOf(of)
    await send(of, [timeUs], 7 + seed, true)
    await settled()
    const after = await hoursOf(of)
    t.not(differences(after, before).length, 0)
    t.strictSame(differences(await hoursOf(of, rawFromUs()), after), [])
  }
})

test('a view that is gone is done without', async t => {
  const of = device(1)
  const fromReadings = await hoursOf(of)
  await view.close()
  await questdbRows({ questdb: { address } }, 'DROP MATERIALIZED VIEW readings_1h')
  t.strictSame(differences(await hoursOf(of, Number.POSITIVE_INFINITY), fromReadings), [])
})
