/** Erasing with real databases: removed rows, kept rows, and a job that survives its process. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { Station } from '../../auth/stations/station.ts'
import { openStations } from '../../auth/stations/stations.ts'
import { isWhole, nameOf, writeDeadLetter } from '../../ingest/forwarder/dead-letters.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { encodePoints, points } from '../../ingest/points-table.ts'
import { readingLength, readings, writeReading } from '../../ingest/readings-table.ts'
import { listDone } from '../../service/backup/erased.ts'
import { createEraseJobs, type EraseJobs } from '../../service/lifecycle/erasure/erase-jobs.ts'
import { createEraseSteps } from '../../service/lifecycle/erasure/erase-steps.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import type { Exec } from '../../store/questdb/until-applied.ts'
import { openParts } from '../support/admin.ts'
import { addDeviceTo, valueIn } from '../support/changed.ts'
import { closing, silentLog } from '../support/databases.ts'
import { records } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'
import { startLentDatabases } from '../support/worker-questdb.ts'

const { store } = await startLentDatabases(t)
const { ingest, pointsIngest, devices, metrics, journal, pointsJournal } = await openParts(t, store)
const stations = closing(t, openStations({ pool: store.postgres, nowMs: Date.now, log: silentLog }))
for (const path of [ingest, pointsIngest]) path.startForwarding(store.questdb.address.http, true)
const questdb = closing(t, createQuestdbClient(store.questdb.address.http))
const ingests = { readings: ingest, points: pointsIngest }
const options = { devices, metrics, stations, ingest: ingests, store, log: silentLog }

const dayMs = 86_400_000

async function addDevice(name: string): Promise<{ number: number; symbol: string }> {
  await addDeviceTo(devices, name)
  return devices.get(name) as { number: number; symbol: string }
}

/** One reading on each of some days up to the current one. Odd days have no temperature. */
async function log(device: { number: number; symbol: string }, days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    const temperature = day % 2 === 0 ? 20 : Number.NaN
    const rest = { humidity: 50, pressure: Number.NaN, battery_voltage: Number.NaN, battery_percentage: Number.NaN }
    const outcome = await ingest.accept(device, { timestampMs: Date.now() - day * dayMs, temperature, ...rest })
    if (outcome !== 'stored') throw new Error(outcome)
  }
  await until('they are there', async () => (await rows(device.symbol))[2] === days)
}

async function logCustom(device: { number: number; symbol: string }, series: number[], timeMs: number): Promise<void> {
  const none = { temperature: Number.NaN, humidity: Number.NaN, pressure: Number.NaN }
  const battery = { battery_voltage: Number.NaN, battery_percentage: 50 }
  const custom = { series, values: series.map(() => 1) }
  const outcome = await ingest.accept(device, { timestampMs: timeMs, ...none, ...battery, custom })
  if (outcome !== 'stored') throw new Error(outcome)
}

/** Custom values are 1, 2, and so on. */
function recordWith(device: { number: number; symbol: string }, series: number[]): Uint8Array {
  const values = { temperature: 20, humidity: 50, pressure: 1000, battery_voltage: 3, battery_percentage: 50 }
  const reading = { ...values, timestampMs: 1, custom: { series, values: series.map((_, index) => index + 1) } }
  const bytes = new Uint8Array(readingLength(device, reading))
  writeReading(new DataView(bytes.buffer), 0, device, 1000, false, reading)
  return bytes
}

function doubleBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

async function rows(symbol: string): Promise<number[]> {
  const sql = `SELECT count(), count(temperature), count(humidity) FROM readings WHERE device = '${symbol}'`
  const [row] = await questdb.exec(sql, 10_000)
  return (row ?? []).map(Number)
}

/** Adds the series that the device lacks. */
async function seriesOf({ number }: { number: number }, ...fields: string[]): Promise<number[]> {
  const sightings = fields.map(field => ({ device: number, field }))
  t.equal(await metrics.ensure(sightings, 'test'), 'done')
  return fields.map(name => metrics.series(number, metrics.find(name) ?? { id: 0 }) ?? 0)
}

/** The number of remaining values of the series. */
async function valuesOf(...series: number[]): Promise<number> {
  const sql = `SELECT count(value) FROM measurements WHERE series IN (${series})`
  return Number((await questdb.exec(sql, 10_000))[0]?.[0])
}

/** Options with a function that reports a loss of rows of QuestDB. */
function losing(table: 'readings' | 'points') {
  const listeners: ((reason: string) => void)[] = []
  const onLost = (listener: (reason: string) => void) => void listeners.push(listener)
  const lose = () => {
    for (const listener of listeners) listener('of a test')
  }
  const lost = table === 'readings' ? { readings: { ...ingest, onLost } } : { points: { ...pointsIngest, onLost } }
  return { lose, options: { ...options, ingest: { ...ingests, ...lost } } }
}

function done(jobs: EraseJobs, name: string): Promise<void> {
  return until(`${name} is erased`, async () => (await jobs.report(name))?.state === 'done')
}

t.test('the readings of all devices that had the name are erased, and no others', async t => {
  const forgotten: unknown[] = []
  const jobs = createEraseJobs({
    ...options,
    forgetDevices: async ({ numbers, name }) => {
      forgotten.push({ numbers, name, state: (await jobs.report(name))?.state })
    },
  })
  t.teardown(() => jobs.close())
  const first = await addDevice('kitchen')
  await log(first, 5)
  await devices.remove(first.number, 'test')
  const second = await addDevice('kitchen')
  const other = await addDevice('roof')
  await log(second, 3)
  await log(other, 4)
  t.match(await jobs.request('kitchen', 'test'), {
    ok: true,
    value: { state: 'waiting', symbols: [first.symbol, second.symbol] },
  })
  t.equal(devices.get('kitchen'), undefined, 'its credential is invalid')
  await done(jobs, 'kitchen')
  t.match(await jobs.report('kitchen'), { device: 'kitchen', state: 'done', rows: 8, error: null })
  t.match(forgotten, [{ name: 'kitchen', state: 'running' }], 'notifications forget it before')
  t.strictSame(await rows(first.symbol), [5, 0, 0])
  t.strictSame(await rows(second.symbol), [3, 0, 0])
  t.strictSame(await rows(other.symbol), [4, 2, 4])
  t.match(await jobs.request('nobody', 'test'), { ok: false, code: 'DEVICE_UNKNOWN' })
})

t.test('custom values are erased with their device, and again if they return', async t => {
  const { lose, options } = losing('readings')
  const jobs = closing(t, createEraseJobs(options))
  const [gone, other] = [await addDevice('balcony'), await addDevice('garden')]
  const [ofGone, ofOther] = [await seriesOf(gone, 'co2', 'lux'), await seriesOf(other, 'co2', 'lux')]
  for (let day = 0; day < 3; day++) {
    await logCustom(gone, ofGone, Date.now() - day * dayMs)
    await logCustom(other, ofOther, Date.now() - day * dayMs)
  }
  await until('they are there', async () => (await valuesOf(...ofGone, ...ofOther)) === 12)
  await jobs.request('balcony', 'test')
  await done(jobs, 'balcony')
  t.match(await jobs.report('balcony'), { rows: 3, error: null }, 'readings are what counts')
  t.strictSame([await valuesOf(...ofGone), await valuesOf(...ofOther)], [0, 6])
  await questdb.exec(`INSERT INTO measurements VALUES (now(), ${ofGone[0]}, 1)`, 10_000)
  await until('it has come back', async () => (await valuesOf(...ofGone)) === 1)
  lose()
  await until('it is erased again', async () => (await valuesOf(...ofGone)) === 0)
  t.equal(await valuesOf(...ofOther), 6)
})

t.test('a metric is erased while it is sent, and returns as a new one', async t => {
  const forgotten: number[][] = []
  const cleared: unknown[] = []
  const jobs = createEraseJobs({
    ...options,
    forgetSeries: async numbers => void forgotten.push([...numbers]),
    forgetDevices: async ({ numbers, metric }) => void cleared.push({ numbers, metric }),
  })
  t.teardown(() => jobs.close())
  const [porch, other] = [await addDevice('veranda'), await addDevice('terrace')]
  const [co2 = 0, lux = 0] = await seriesOf(porch, 'co2', 'illuminance')
  const [otherCo2 = 0] = await seriesOf(other, 'co2')
  for (let day = 0; day < 3; day++) {
    await logCustom(porch, [co2, lux], Date.now() - day * dayMs)
    await logCustom(other, [otherCo2], Date.now() - day * dayMs)
  }
  await until('they are there', async () => (await valuesOf(lux, otherCo2)) === 6)
  const letter = Buffer.from(recordWith(porch, [co2, lux]))
  writeDeadLetter(readings, openDisk(journal), 7, letter, 'too dirty', Date.now())

  t.match(await jobs.requestMetric('nobody', 'co2', 'test'), { ok: false, code: 'DEVICE_UNKNOWN' })
  t.match(await jobs.requestMetric('veranda', 'wind', 'test'), { ok: false, code: 'METRIC_UNKNOWN' })
  t.match(await jobs.requestMetric('veranda', 'temperature', 'test'), { ok: false, code: 'METRIC_BUILT_IN' })
  // The device continues to send, also with names resolved before.
  let isSending = true
  let sent = 0
  const sending = (async () => {
    while (isSending) {
      await logCustom(porch, [co2, lux], Date.now() - 60_000 - sent++)
      await setTimeout(5)
    }
  })()
  const report = { device: 'veranda', metric: 'co2', state: 'waiting', rows: null }
  t.match(await jobs.requestMetric('veranda', 'co2', 'test'), { ok: true, value: report })
  t.equal(metrics.series(porch.number, metrics.get('co2') ?? { id: 0 }), undefined, 'it has it no more')
  t.match(await jobs.requestMetric('veranda', 'co2', 'test'), { ok: false, code: 'METRIC_UNKNOWN' })
  await until('it is erased', async () => (await jobs.metricReport('veranda', 'co2'))?.state === 'done')
  const atEnd = sent
  await until('more has been sent', () => sent > atEnd + 20)
  isSending = false
  await sending
  t.equal(await ingest.append(recordWith(porch, [co2, lux])), 'stored', 'a piece of a body that was looked up before')
  await until('all is applied', () => ingest.status().lag.rows === 0)
  t.match(await jobs.metricReport('veranda', 'co2'), { error: null, finished_at: /Z$/ })
  t.strictSame(cleared, [{ numbers: [porch.number], metric: 'co2' }], 'values in notifications')
  t.equal(await valuesOf(co2), 0, 'none of its values is there')
  t.equal(await valuesOf(lux), 3 + sent + 1, 'those of the other metric are')
  t.equal(await valuesOf(otherCo2), 3, 'nor is another device concerned')
  t.strictSame(forgotten, [[co2]])
  const [kept] = (await ingest.deadLetters.list(-1, 10)).filter(isWhole)
  t.strictSame(kept?.further, [{ series: lux, value: 2 }])
  t.equal(await ingest.deadLetters.discard([7]), 1)
  t.notOk(Buffer.from(kept?.record ?? '', 'base64').includes(doubleBytes(1)), 'its bytes are gone, too')

  const [again = 0] = await seriesOf(porch, 'co2')
  t.not(again, co2)
  await logCustom(porch, [again, lux], Date.now())
  await until('it has values again', async () => (await valuesOf(again)) === 1)
  t.equal(await valuesOf(co2), 0)
  const { rows: audited } = await store.postgres.query(
    "SELECT actor, details FROM audit WHERE action = 'device.erase-metric' AND subject = 'veranda'",
  )
  t.strictSame(audited, [{ actor: 'test', details: { metric: 'co2', series: [co2] } }])
})

t.test('a metric whose erase has failed can be erased again, and is erased with its device', async t => {
  const device = await addDevice('arbor')
  const fields = ['co2', 'illuminance', 'sap_flow']
  const series = await seriesOf(device, ...fields)
  const [co2 = 0, lux = 0, sap = 0] = series
  const nowMs = Date.now()
  for (let day = 0; day < 4; day++) await logCustom(device, series, nowMs - day * dayMs)
  await until('they are there', async () => (await valuesOf(...series)) === 12)
  await logCustom(device, [], nowMs)
  await until('the newest is replaced by one without them', async () => (await valuesOf(...series)) === 9)

  const away = { ...store.questdb, state: () => ({ state: 'away' as const }) }
  const failing = createEraseJobs({ ...options, store: { ...store, questdb: away } })
  for (const metric of fields) t.match(await failing.requestMetric('arbor', metric, 'test'), { ok: true })
  await until('one runs', async () => (await failing.metricReport('arbor', 'co2'))?.state === 'running')
  await failing.close()
  await store.postgres.query(
    "UPDATE erase_jobs SET state = 'failed', error = 'new measurements kept coming in' WHERE name = 'arbor'",
  )
  t.match(await failing.metricReport('arbor', 'co2'), { state: 'failed', rows: null })

  const jobs = closing(t, createEraseJobs(options))
  const again = { device: 'arbor', metric: 'co2', state: 'waiting', rows: null, error: null }
  t.match(await jobs.requestMetric('arbor', 'co2', 'test'), { ok: true, value: again }, 'it has not come again')
  await until('it is erased', async () => (await jobs.metricReport('arbor', 'co2'))?.state === 'done')
  t.match(await jobs.metricReport('arbor', 'co2'), { rows: 3, error: null }, 'that was replaced does not count')
  t.equal(await valuesOf(co2), 0)
  t.equal(await valuesOf(lux, sap), 6)
  t.match(await jobs.requestMetric('arbor', 'co2', 'test'), { ok: false, code: 'METRIC_UNKNOWN' }, 'nothing is left')

  const [, newLux = 0] = await seriesOf(device, ...fields)
  t.not(newLux, lux)
  await logCustom(device, [newLux], Date.now())
  await until('it is there', async () => (await valuesOf(newLux)) === 1)
  t.match(await jobs.requestMetric('arbor', 'illuminance', 'test'), { ok: true }, 'it has come again')
  await until('both are erased', async () => (await jobs.metricReport('arbor', 'illuminance'))?.state === 'done')
  t.match(await jobs.metricReport('arbor', 'illuminance'), { rows: 4, error: null })
  t.equal(await valuesOf(lux, newLux), 0)

  t.equal(await valuesOf(sap), 3)
  t.match(await jobs.request('arbor', 'test'), { ok: true })
  await done(jobs, 'arbor')
  t.equal(await valuesOf(sap), 0, 'with the device all of its series go')
})

t.test('erased values not yet in QuestDB never arrive, over any restart', async t => {
  const device = await addDevice('pergola')
  const [series = 0] = await seriesOf(device, 'co2')
  const times = Array.from({ length: 50 }, (_, index) => Date.now() - index * 3_600_000)
  const accepted = times.map(timeMs => logCustom(device, [series], timeMs))
  const jobs = createEraseJobs(options)
  await Promise.all(accepted)
  await jobs.requestMetric('pergola', 'co2', 'test')
  await jobs.close()
  const next = closing(t, createEraseJobs(options))
  next.resume()
  await until('it is erased', async () => (await next.metricReport('pergola', 'co2'))?.state === 'done')
  await until('the readings are there', async () => (await rows(device.symbol))[0] === 50)
  t.equal(await valuesOf(series), 0)
})

t.test('values erased by a previous process are counted', async t => {
  const device = await addDevice('gazebo')
  const [series = 0] = await seriesOf(device, 'co2')
  for (let day = 0; day < 3; day++) await logCustom(device, [series], Date.now() - day * dayMs)
  await until('they are there', async () => (await valuesOf(series)) === 3)
  let isDying = false
  const first = createEraseJobs({
    ...options,
    async whileNoDayExpires(work) {
      await work()
      isDying = true
      return new Promise(() => undefined)
    },
  })
  await first.requestMetric('gazebo', 'co2', 'test')
  await until('the values are erased', () => isDying)
  t.equal(await valuesOf(series), 0)
  t.match(await first.metricReport('gazebo', 'co2'), { state: 'running', rows: null })
  const second = closing(t, createEraseJobs(options))
  second.resume()
  await until('it is done', async () => (await second.metricReport('gazebo', 'co2'))?.state === 'done')
  t.match(await second.metricReport('gazebo', 'co2'), { rows: 3 })
})

t.test('a new device of the same name keeps its readings', async t => {
  const jobs = closing(t, createEraseJobs(options))
  const old = await addDevice('attic')
  await log(old, 3)
  await jobs.request('attic', 'test')
  const fresh = await addDevice('attic')
  await log(fresh, 2)
  await done(jobs, 'attic')
  t.strictSame(await rows(old.symbol), [3, 0, 0])
  t.ok(devices.get('attic'))
  await until('the new readings are there', async () => (await rows(fresh.symbol))[2] === 2)
})

t.test('the erase waits for an obstacle that its report names', async t => {
  const device = await addDevice('garage')
  await log(device, 2)
  let away = true
  const flaky = { ...devices, reconcile: async () => !away && (await devices.reconcile()) }
  const jobs = closing(t, createEraseJobs({ ...options, devices: flaky }))
  t.match(await jobs.request('garage', 'test'), { ok: true })
  await until('it waits', async () => (await jobs.report('garage'))?.error !== null)
  t.match(await jobs.report('garage'), { state: 'running', error: /not known yet whether the device is removed/ })
  away = false
  await done(jobs, 'garage')
  t.strictSame(await rows(device.symbol), [2, 0, 0])
})

/**
 * A request whose COMMIT takes effect late, after a connection without a response. Its outcome is unknown at first. The query for
 * it finds it just committed.
 */
function lateCommit() {
  let commit: (() => Promise<unknown>) | undefined
  let asked = 0
  return {
    later: (work: () => Promise<unknown>) => {
      commit = work
    },
    async isKnown(): Promise<boolean> {
      if (asked++ === 0) return false
      const work = commit
      commit = undefined
      await work?.()
      return true
    },
  }
}

t.test('a job committed after the search for it is found, of any kind', async t => {
  const removal = lateCommit()
  const ofDevice = createEraseJobs({
    ...options,
    devices: {
      ...devices,
      reconcile: removal.isKnown,
      async removeNamed(...given) {
        removal.later(() => devices.removeNamed(...given))
        return { ok: false, code: 'OUTCOME_UNKNOWN' }
      },
    },
  })
  t.teardown(() => ofDevice.close())
  await addDevice('stable')
  t.match(await ofDevice.request('stable', 'test'), { ok: false, code: 'OUTCOME_UNKNOWN' })
  await done(ofDevice, 'stable')

  const taking = lateCommit()
  const ofMetric = createEraseJobs({
    ...options,
    metrics: {
      ...metrics,
      reconcile: taking.isKnown,
      async removeSeries(...given) {
        taking.later(() => metrics.removeSeries(...given))
        throw new Error('PostgreSQL did not confirm')
      },
    },
  })
  t.teardown(() => ofMetric.close())
  await seriesOf(await addDevice('silo'), 'co2')
  await t.rejects(ofMetric.requestMetric('silo', 'co2', 'test'))
  await until('it is erased', async () => (await ofMetric.metricReport('silo', 'co2'))?.state === 'done')

  const closing = lateCommit()
  const ofStation = createEraseJobs({
    ...options,
    stations: {
      async registry() {
        if (!(await closing.isKnown())) throw new Error('PostgreSQL is away')
        return await stations.registry()
      },
      async remove(...given) {
        closing.later(() => stations.remove(...given))
        throw new Error('PostgreSQL did not confirm')
      },
    },
  })
  t.teardown(() => ofStation.close())
  const station = await addStation('IN-9')
  await t.rejects(ofStation.removeStation(station, 'test'))
  await stationDone(ofStation, 'IN-9')
})

/** Names of the journal's files that contain the text. */
function filesWith(text: string): string[] {
  return readdirSync(journal).filter(name => {
    try {
      return readFileSync(join(journal, name)).includes(text)
    } catch (error) {
      // The file was removed or renamed since it was listed.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
  })
}

t.test('the hourly view stays, without the device', async t => {
  const viewed = async (symbol: string) => {
    const sql = `SELECT sum(humidity_count), max(humidity_max) FROM readings_1h WHERE device = '${symbol}'`
    return (await questdb.exec(sql, 10_000))[0]
  }
  const view = async () => {
    const sql = 'SELECT view_table_dir_name, view_status, refresh_base_table_txn FROM materialized_views()'
    return (await questdb.exec(sql, 10_000))[0] ?? []
  }
  const device = await addDevice('loft')
  const other = await addDevice('hall')
  await log(device, 3)
  await log(other, 3)
  await questdb.exec('REFRESH MATERIALIZED VIEW readings_1h INCREMENTAL', 10_000)
  await until('the view has them', async () => (await viewed(device.symbol))?.[0] === 3)
  const [name] = await view()
  const jobs = closing(t, createEraseJobs(options))
  await jobs.request('loft', 'test')
  await done(jobs, 'loft')
  t.strictSame(await viewed(device.symbol), [0, null])
  t.strictSame(await viewed(other.symbol), [3, 50])
  t.match(await view(), [name, 'valid'], 'it is the one that it was')
})

t.test(
  'an erase with a damaged dead letter completes, fails with the name of the file, and stays effective',
  async t => {
    const { lose, options } = losing('readings')
    const forgotten: string[] = []
    const forgetDevices = async ({ name }: { name: string }) => void forgotten.push(name)
    const jobs = closing(t, createEraseJobs({ ...options, forgetDevices }))
    const device = await addDevice('vault')
    await log(device, 3)
    const path = join(journal, nameOf(7))
    writeDeadLetter(readings, openDisk(journal), 7, recordWith(device, []), 'too dirty', Date.now())
    writeFileSync(path, readFileSync(path).subarray(0, 20))
    await jobs.request('vault', 'test')
    await until('it has ended', async () => (await jobs.report('vault'))?.finished_at !== null)
    const error = /^damaged dead letters were not erased: dead-0000000000000007\.json; discard them and erase again$/
    t.match(await jobs.report('vault'), { state: 'failed', rows: null, error })
    t.strictSame(await rows(device.symbol), [3, 0, 0])
    t.strictSame(forgotten, ['vault'])
    const client = await store.connectPostgres()
    t.teardown(() => client.end())
    const { rows: failed } = await client.query("SELECT id::int FROM erase_jobs WHERE name = 'vault'")
    t.ok((await listDone(client)).includes(failed[0]?.id), 'a backup that has its rows erases them again')
    const bring = `INSERT INTO readings (ts, device, humidity) SELECT ts, device, 50 FROM readings WHERE device = '${device.symbol}'`
    await questdb.exec(bring, 10_000)
    await until('they are back', async () => (await rows(device.symbol))[2] === 3)
    lose()
    await until('they are erased again', async () => (await rows(device.symbol))[2] === 0)
    t.match(await ingest.deadLetters.list(-1, 10), [{ id: 7, name: nameOf(7) }])
    t.equal(await ingest.deadLetters.discard([7]), 1)
    t.match(await jobs.request('vault', 'test'), { ok: true })
    await done(jobs, 'vault')
    t.match(await jobs.report('vault'), { rows: 3, error: null })
  },
)

t.test('bulk data of an erased device is rejected', async t => {
  const jobs = closing(t, createEraseJobs(options))
  const device = await addDevice('mill')
  const other = await addDevice('lake')
  await log(device, 1)
  await jobs.request('mill', 'test')
  await done(jobs, 'mill')
  const bulk = [device, other, device].map(each => records(each, [7, 8], (Date.now() - 86_400_000) * 1000))
  t.equal(await ingest.append(Buffer.concat(bulk)), 'stored')
  await until('the other is there', async () => (await rows(other.symbol))[0] === 2)
  t.strictSame(await rows(device.symbol), [1, 0, 0])
  t.strictSame(filesWith(device.symbol), [])
})

async function addStation(sn: string): Promise<Station> {
  return valueIn(await stations.add({ sn, model: 'M1', owner: null }, 'test'))
}

const hourAgoMs = Math.floor(Date.now() / 1000) * 1000 - 3_600_000
let calls = 0

/** One point of each series of the station on each of some days, at times that no other call uses. */
function pointsOf({ series }: Station, days: number): Uint8Array {
  const nowMs = hourAgoMs + calls++ * 1000
  const list = Array.from({ length: days }, (_, day) =>
    [...series.values()].map(number => {
      const timestampMs = nowMs - day * dayMs
      return { series: { number, symbol: 'ppb' }, values: { timestampMs, value: day, storedAtUs: Date.now() * 1000 } }
    }),
  )
  return encodePoints(list.flat())
}

/** The number of rows, and of rows with a value. */
async function pointRows({ series }: Station): Promise<number[]> {
  const sql = `SELECT count(), count(value), count(stored_at) FROM points WHERE series IN (${[...series.values()]})`
  const [row] = await questdb.exec(sql, 10_000)
  return (row ?? []).map(Number)
}

async function addPoints(station: Station, days: number): Promise<void> {
  t.equal(await pointsIngest.append(pointsOf(station, days)), 'stored')
  await until('they are there', async () => (await pointRows(station))[1] === days * station.series.size)
}

function stationDone(jobs: EraseJobs, sn: string): Promise<void> {
  return until(`the points of ${sn} are erased`, async () => (await jobs.stationReport(sn))?.state === 'done')
}

t.test('the points of a removed station are erased, and no others', async t => {
  const jobs = closing(t, createEraseJobs(options))
  const [old, other] = [await addStation('IN-1'), await addStation('IN-2')]
  await addPoints(old, 3)
  await addPoints(other, 2)
  const bytes = Buffer.from(pointsOf(old, 1))
  const record = bytes.subarray(0, bytes.readUInt16LE(0))
  writeDeadLetter(points, openDisk(pointsJournal), 1, record, 'too dirty', Date.now())
  t.equal((await pointsIngest.deadLetters.list(-1, 10)).length, 1)
  t.match(await jobs.removeStation(old, 'test'), { ok: true })
  t.match(await jobs.removeStation(old, 'test'), { ok: false, code: 'STATION_UNKNOWN' })
  const fresh = await addStation('IN-1')
  t.equal(await pointsIngest.append(Buffer.concat([pointsOf(old, 4), pointsOf(fresh, 1)])), 'stored', 'on its way')
  await stationDone(jobs, 'IN-1')
  t.match(await jobs.stationReport('IN-1'), { sn: 'IN-1', state: 'done', error: null, finished_at: /Z$/ })
  await until('the new station has its points', async () => (await pointRows(fresh))[1] === 8)
  t.equal((await pointRows(old))[1], 0)
  t.equal((await pointRows(old))[2], 0)
  t.strictSame(await pointRows(other), [16, 16, 16])
  t.strictSame(await pointsIngest.deadLetters.list(-1, 10), [])
  t.equal(await pointsIngest.append(pointsOf(old, 5)), 'stored')
  t.equal(await pointsIngest.append(pointsOf(fresh, 2)), 'stored')
  await until('what came behind it is there', async () => (await pointRows(fresh))[1] === 24)
  t.equal((await pointRows(old))[1], 0, 'nothing of it is taken any more')
  const { rows } = await store.postgres.query("SELECT action FROM audit WHERE subject = 'station IN-1' ORDER BY id")
  t.strictSame(
    rows.map(({ action }) => action),
    ['station.add', 'station.remove', 'station.add'],
  )
})

t.test('the next process completes an erase of points, and repeats a lost one', async t => {
  const station = await addStation('IN-3')
  await addPoints(station, 2)
  const away = { ...store.questdb, state: () => ({ state: 'away' as const }) }
  const first = createEraseJobs({ ...options, store: { ...store, questdb: away } })
  t.match(await first.removeStation(station, 'test'), { ok: true })
  await until('it runs', async () => (await first.stationReport('IN-3'))?.state === 'running')
  await first.close()
  const { lose, options: ofSecond } = losing('points')
  const second = closing(t, createEraseJobs(ofSecond))
  second.resume()
  await stationDone(second, 'IN-3')
  t.match(await second.stationReport('IN-3'), { rows: 16 })
  t.strictSame(await pointRows(station), [16, 0, 0])
  const keys = `series IN (${[...station.series.values()]})`
  await questdb.exec(`INSERT INTO points (ts, series, value) SELECT ts, series, 5 FROM points WHERE ${keys}`, 10_000)
  await until('they are back', async () => (await pointRows(station))[1] === 16)
  lose()
  await until('they are erased', async () => (await pointRows(station))[1] === 0)
  t.pass('again')
})

t.test('points whose erase has failed can be erased again, also with a new station of the same name', async t => {
  const station = await addStation('IN-7')
  await addPoints(station, 2)
  const away = { ...store.questdb, state: () => ({ state: 'away' as const }) }
  async function fail(removed: Station): Promise<void> {
    const failing = createEraseJobs({ ...options, store: { ...store, questdb: away } })
    t.match(await failing.removeStation(removed, 'test'), { ok: true })
    await until('it runs', async () => (await failing.stationReport('IN-7'))?.state === 'running')
    await failing.close()
    await store.postgres.query(
      "UPDATE erase_jobs SET state = 'failed', error = 'new points kept coming in' WHERE name = 'IN-7' AND state = 'running'",
    )
  }
  await fail(station)
  const jobs = closing(t, createEraseJobs(options))
  t.match(await jobs.eraseStationAgain('IN-7', 'test'), { ok: true })
  await stationDone(jobs, 'IN-7')
  t.match(await jobs.stationReport('IN-7'), { rows: 16, error: null })
  t.strictSame(await pointRows(station), [16, 0, 0])
  const unknown = { ok: false, code: 'STATION_UNKNOWN' }
  t.match(await jobs.eraseStationAgain('IN-7', 'test'), unknown, 'nothing is left')
  t.match(await jobs.eraseStationAgain('IN-0', 'test'), unknown)

  const second = await addStation('IN-7')
  await addPoints(second, 1)
  await fail(second)
  const third = await addStation('IN-7')
  await addPoints(third, 1)
  t.match(await jobs.removeStation(third, 'test'), { ok: true })
  await stationDone(jobs, 'IN-7')
  t.strictSame(await pointRows(second), [8, 0, 0], 'with those of the station of now')
  t.strictSame(await pointRows(third), [8, 0, 0])
  const { rows } = await store.postgres.query("SELECT action FROM audit WHERE subject = 'station IN-7' ORDER BY id")
  t.strictSame(
    rows.map(({ action }) => action).filter(action => action !== 'station.add'),
    ['station.remove', 'station.erase', 'station.remove', 'station.remove'],
  )
})

t.test('returned rows are found in few statements, after any number of erases', async t => {
  const asked: string[] = []
  const exec: Exec = async sql => {
    asked.push(sql)
    return await questdb.exec(sql, 10_000)
  }
  const steps = createEraseSteps({
    ...options,
    replicas: [{ number: 1, questdb: store.questdb, exec }],
    pause: () => setTimeout(10),
    settle: async () => undefined,
    signal: new AbortController().signal,
    noteValues: async (_, values) => values,
  })
  const [back, gone] = [await addStation('IN-5'), await addStation('IN-6')]
  await addPoints(back, 2)
  await addPoints(gone, 1)
  const erased = [...back.series.values(), ...Array.from({ length: 20_000 }, (_, number) => 1_000_000 + number)]
  await steps.eraseAgain('points', { numbers: erased, symbols: [], customSeries: [] })
  t.strictSame(await pointRows(back), [16, 0, 0])
  t.strictSame(await pointRows(gone), [8, 8, 8])
  const searches = asked.filter(sql => sql.startsWith('SELECT DISTINCT series'))
  t.ok(searches.length <= 10, `${searches.length} searches`)
  t.ok(asked.every(sql => encodeURIComponent(sql).length < 60_000))
  const device = await addDevice('cabin')
  await log(device, 2)
  await steps.eraseAgain('readings', { numbers: [], symbols: ['nobody-1', device.symbol], customSeries: [] })
  t.strictSame(await rows(device.symbol), [2, 0, 0])
})

t.test('a removal is undone when another write of its transaction fails', async t => {
  const station = await addStation('IN-4')
  await addPoints(station, 1)
  const failing = createEraseJobs({
    ...options,
    stations: { ...stations, remove: (each, by) => stations.remove(each, by, () => Promise.reject(new Error('away'))) },
  })
  t.teardown(() => failing.close())
  await t.rejects(failing.removeStation(station, 'test'), { message: 'away' })
  t.ok(await stations.find('IN-4'))
  t.equal(await failing.stationReport('IN-4'), undefined)
})
