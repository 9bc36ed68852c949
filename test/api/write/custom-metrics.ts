/** Single readings with custom metrics: a real registry in PostgreSQL and a real journal, without QuestDB. */

import t, { type Test } from 'tap'
import { NewDevice } from '../../../auth/devices/device.ts'
import { type MetricsOptions, openMetrics } from '../../../auth/metrics/metrics.ts'
import { createWriters, type Writer } from '../../../auth/writers.ts'
import { createIntake } from '../../../ingest/intake/intake.ts'
import type { CustomValues } from '../../../ingest/journal/record.ts'
import { createReadingCheck } from '../../../ingest/reading.ts'
import { perOwner } from '../../support/accounts.ts'
import { openParts } from '../../support/admin.ts'
import { breakingPool } from '../../support/breaking-pool.ts'
import { addDeviceTo } from '../../support/changed.ts'
import { closing, nowhere, silentLog, startDatabases } from '../../support/databases.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const { devices, ingest } = await openParts(t, store)
const good = { temperature: 21.5, humidity: 48, pressure: 1013.2 }

interface Answer {
  /** The code of a rejection. */
  code?: string
  errors?: object
  ignored?: readonly string[] | undefined
  custom?: CustomValues | undefined
}

async function open(t: Test, options: Partial<MetricsOptions> = {}) {
  const metrics = closing(t, await openMetrics({ pool, log: silentLog, mode: 'open', ...options }))
  const appended = new Map<string, CustomValues | undefined>()
  const intake = createIntake({
    devices,
    ingest: {
      accept(device, reading) {
        appended.set(device.symbol, reading.custom)
        return ingest.accept(device, reading)
      },
    },
    metrics,
    check: createReadingCheck({ collectsCustom: true }),
    meter: { stored() {} },
    nowMs: Date.now,
    isWithinRate: () => true,
    acceptOnce: () => Promise.reject(new Error('no reading has a key')),
  })

  /** Accepts a reading like each protocol of single readings. */
  async function send(writer: Writer, body: object): Promise<Answer> {
    const unprepared = await intake.prepare(writer, body)
    if (unprepared !== undefined) return { code: unprepared.code, ...unprepared.members }
    const outcome = await intake.take(writer, body)
    if ('reason' in outcome) return { code: outcome.code, ...outcome.members }
    const device = writer.device?.symbol ?? ''
    return { ignored: outcome.ignored, custom: appended.get(device) }
  }
  return { metrics, intake, send, appended }
}

async function addDevice(name: string, more: object = {}): Promise<Writer & { device: { number: number } }> {
  const writer = createWriters(devices, perOwner).ofDevice(name, await addDeviceTo(devices, name, more))
  if (writer?.device === undefined) throw new Error(`${name} cannot log`)
  return writer as Writer & { device: { number: number } }
}

t.test('fields without a metric create one, for the device and in the audit', async t => {
  const { metrics, send, intake } = await open(t)
  const device = await addDevice('first')
  const body = { device: 'first', ...good, co2: 412, 'PM2.5': 7.5, door: true, '%': 1, note: 'dry' }
  const { ignored, custom } = await send(device, body)
  const names = metrics.metricsOf(device.device.number).map(({ name }) => name)
  t.strictSame(names, ['co2', 'pm25', 'door'])
  const numbers = names.map(name => metrics.series(device.device.number, metrics.get(name) ?? { id: 0 }))
  t.strictSame(custom, { series: numbers, values: [412, 7.5, 1] })
  t.strictSame(ignored, ['%', 'note'])
  t.equal(intake.prepare(device, body), undefined, 'then nothing is missing')
  t.strictSame((await send(device, body)).custom, custom)
  t.strictSame(await send(device, { device: 'first', ...good }), { ignored: undefined, custom: undefined })
  const { rows } = await pool.query("SELECT actor FROM audit WHERE subject = 'metric pm25'")
  t.strictSame(rows, [{ actor: `device ${device.device.number}` }])
})

t.test('a rejected reading creates no metric, and is not stored', async t => {
  const { metrics, send, appended } = await open(t)
  const device = await addDevice('refused')
  const wrong = await send(device, { device: 'refused', ...good, temperature: 'x', never_made: 1 })
  t.match(wrong, { code: 'PAYLOAD_INVALID', errors: { temperature: /number/ } })
  t.equal(metrics.find('never_made'), undefined)
  const errors = { co2: 'must be between 0 and 100000' }
  t.strictSame(await send(device, { device: 'refused', co2: -1 }), { code: 'PAYLOAD_INVALID', errors })
  t.match(await send(device, { device: 'first', ...good, never_made: 1 }), { code: 'DEVICE_MISMATCH' })
  t.equal(metrics.find('never_made'), undefined)
  t.equal(appended.size, 0)
})

t.test('readings are stored while PostgreSQL fails, unless they have a new field', async t => {
  let breaks: 'before' | undefined
  const { metrics, send, appended } = await open(t, { pool: breakingPool(() => breaks, pool) })
  const device = await addDevice('away')
  t.match(await send(device, { device: 'away', ...good, known: 1 }), { custom: { values: [1] } })
  appended.clear()
  breaks = 'before'
  t.match(await send(device, { device: 'away', ...good, known: 2, fresh_away: 3 }), { code: 'DATABASE_AWAY' })
  t.equal(appended.size, 0, 'not even in part')
  t.match(await send(device, { device: 'away', ...good, known: 4 }), { custom: { values: [4] } })
  breaks = undefined
  await metrics.reconcile()
  t.match(await send(device, { device: 'away', ...good, known: 2, fresh_away: 3 }), { custom: { values: [2, 3] } })
})

t.test('an API key adds the device of a good reading with its metrics', async t => {
  const { metrics, intake, send } = await open(t, { mode: 'declared' })
  const made: string[] = []
  const writer: Writer = {
    device: undefined,
    id: 'key 1',
    mayCreateDevices: true,
    owner: null,
    find: name => devices.get(name) ?? 'DEVICE_UNKNOWN',
    async createDevices(names) {
      made.push(...names)
      for (const name of names) await devices.add([NewDevice.parse({ name })], 'test')
      return 'done'
    },
  }
  const nulls = { temperature: null, humidity: null, pressure: null }
  const body = { device: 'by key', ...nulls, undeclared: 1 }
  t.match(await intake.prepare(writer, body), { code: 'PAYLOAD_INVALID' }, 'nothing of it would be stored')
  t.strictSame(made, [])
  await metrics.add({ name: 'by_key' }, 'test')
  t.match(await send(writer, { ...body, by_key: 2 }), { ignored: ['undeclared'] })
  t.strictSame(made, ['by key'])
  const { number = 0 } = devices.get('by key') ?? {}
  t.match(metrics.metricsOf(number), [{ name: 'by_key' }])
})
