/** Erasing against real databases: what is gone, what stays, and a job that outlives its process. */

import t from 'tap'
import { createEraseJobs, type EraseJobs } from '../../api/admin/erase-jobs.ts'
import { NewDevice } from '../../auth/device.ts'
import { createQuestdbClient } from '../../store/questdb-client.ts'
import { openParts } from '../support/admin.ts'
import { silentLog, startDatabases } from '../support/databases.ts'
import { until } from '../support/processes.ts'

const { store } = await startDatabases(t)
await store.questdb.ready
const { ingest, devices } = await openParts(t, store)
ingest.startForwarding(store.questdb.address.http, true)
const questdb = createQuestdbClient(store.questdb.address)
t.teardown(() => questdb.close())
const options = { devices, ingest, store, log: silentLog, settleMs: 0 }

const dayMs = 86_400_000

async function addDevice(name: string): Promise<{ number: number; symbol: string }> {
  const added = await devices.add([NewDevice.parse({ name })], 'test')
  const device = devices.get(name)
  if (!added.ok || device === undefined) throw new Error('the device was not made')
  return device
}

/** One reading on each of some days, newest today; the odd ones have no temperature. */
async function log(device: { number: number; symbol: string }, days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    const temperature = day % 2 === 0 ? 20 : Number.NaN
    const rest = { humidity: 50, pressure: Number.NaN, battery_voltage: Number.NaN, battery_percentage: Number.NaN }
    const outcome = await ingest.accept(device, { timestampMs: Date.now() - day * dayMs, temperature, ...rest })
    if (outcome !== 'stored') throw new Error(outcome)
  }
}

async function rows(symbol: string): Promise<number[]> {
  const sql = `SELECT count(), count(temperature), count(humidity) FROM readings WHERE device = '${symbol}'`
  const [row] = await questdb.exec(sql, 10_000)
  return (row ?? []).map(Number)
}

function done(jobs: EraseJobs, name: string): Promise<void> {
  return until(`${name} is erased`, async () => (await jobs.report(name))?.state === 'done')
}

t.test('the readings of a device are erased, of all devices that had the name, and no others', async t => {
  const jobs = createEraseJobs(options)
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
  t.equal(devices.get('kitchen'), undefined, 'nobody comes in with it any more')
  await done(jobs, 'kitchen')
  t.match(await jobs.report('kitchen'), { device: 'kitchen', state: 'done', rows: 8, error: null })
  t.strictSame(await rows(first.symbol), [5, 0, 0])
  t.strictSame(await rows(second.symbol), [3, 0, 0])
  t.strictSame(await rows(other.symbol), [4, 2, 4])
  t.match(await jobs.request('nobody', 'test'), { ok: false, code: 'DEVICE_UNKNOWN' })
})

t.test('a device of the same name that is made meanwhile keeps its readings', async t => {
  const jobs = createEraseJobs({ ...options, settleMs: 500 })
  t.teardown(() => jobs.close())
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

t.test('a job that its process could not end is ended by the next one', async t => {
  const device = await addDevice('cellar')
  await log(device, 3)
  const first = createEraseJobs({ ...options, settleMs: 60_000 })
  await first.request('cellar', 'test')
  await until('it runs', async () => (await first.report('cellar'))?.state === 'running')
  await first.close()
  await first.close()
  t.match(await first.report('cellar'), { state: 'running', finished_at: null })
  await until('the readings are there', async () => (await rows(device.symbol))[2] === 3)
  const second = createEraseJobs(options)
  t.teardown(() => second.close())
  second.resume()
  await done(second, 'cellar')
  t.strictSame(await rows(device.symbol), [3, 0, 0])
})

t.test('what stands in the way is told in the report, and waited for', async t => {
  const device = await addDevice('garage')
  await log(device, 2)
  let away = true
  const flaky = { ...devices, settle: async () => !away && (await devices.settle()) }
  const jobs = createEraseJobs({ ...options, devices: flaky })
  t.teardown(() => jobs.close())
  t.match(await jobs.request('garage', 'test'), { ok: true })
  await until('it waits', async () => (await jobs.report('garage'))?.error !== null)
  t.match(await jobs.report('garage'), { state: 'running', error: /not known yet whether the device is removed/ })
  away = false
  await done(jobs, 'garage')
  t.strictSame(await rows(device.symbol), [2, 0, 0])
})
