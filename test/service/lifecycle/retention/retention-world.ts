/** Readings of six days in real databases, a retention over them, and processes that are killed while days expire. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { NewDevice } from '../../../../auth/devices/device.ts'
import { listRawDays } from '../../../../service/lifecycle/retention/expired-days.ts'
import { expiringMeasurements } from '../../../../service/lifecycle/retention/expiring-tables.ts'
import { dayMs, openAcceptedFrom } from '../../../../service/lifecycle/retention/horizon.ts'
import {
  openRetention,
  type Retention,
  type RetentionOptions,
} from '../../../../service/lifecycle/retention/retention.ts'
import type { ExpiringReplica } from '../../../../service/lifecycle/retention/retention-replica.ts'
import type { Log } from '../../../../store/log.ts'
import { createQuestdbClient } from '../../../../store/questdb/client/questdb-client.ts'
import { hourlyView, metrics } from '../../../../store/tables.ts'
import { openParts } from '../../../support/admin.ts'
import { silentLog } from '../../../support/databases.ts'
import { records } from '../../../support/journal-parts.ts'
import { until } from '../../../support/processes.ts'
import { openReadingsSource } from '../../../support/readings-source.ts'
import { startLentDatabases } from '../../../support/worker-questdb.ts'
import type { Kill } from './expiring-process.ts'

export const { store } = await startLentDatabases(t)
export const { ingest, pointsIngest, devices, metrics: registry } = await openParts(t, store)
for (const path of [ingest, pointsIngest]) path.startForwarding(store.questdb.address.http, true)
const { address } = store.questdb
export const client = createQuestdbClient(address.http)
t.teardown(() => client.close())
export const exec = (sql: string) => client.exec(sql, 30_000)
export const pause = () => new Promise<void>(resolve => setTimeout(resolve, 10))
const source = openReadingsSource(t, address)

export const today = Math.floor(Date.now() / dayMs) * dayMs
export const days = 3
export const dayCount = 6
export const beforeMs = today - days * dayMs

export async function addDevice(name: string): Promise<{ number: number; symbol: string }> {
  await devices.add([NewDevice.parse({ name })], 'test')
  const device = devices.get(name)
  if (device === undefined) throw new Error('the device was not made')
  return device
}

export const porch = await addDevice('porch')
export const roof = await addDevice('roof')

/** Some readings of each of the last days, at the same times whenever it is called. */
export async function send(device: { number: number; symbol: string }): Promise<void> {
  for (let age = 0; age < dayCount; age++) {
    const noonUs = (today - age * dayMs - dayMs / 2) * 1000
    await ingest.append(records(device, [1 + age, 2 + age, 5 + age], noonUs, true))
    await ingest.append(records(device, [7 + age], noonUs + 7_200_000_000, true))
  }
  await until('all is applied', () => ingest.status().lag.rows === 0)
}

export async function hours(device: { symbol: string }, expiredBeforeUs: number): Promise<string[]> {
  const range = { fromUs: (today - 10 * dayMs) * 1000, toUs: (today + dayMs) * 1000 }
  const from = { rawFromUs: Number.NEGATIVE_INFINITY, expiredBeforeUs }
  const found = await source.hourly({ symbol: device.symbol, ...range, ...from }, new AbortController().signal)
  return [...found.startsMs].map((startMs, row) => {
    const figures = metrics.map(metric => `${found.metrics[metric].count[row]}:${found.metrics[metric].mean[row]}`)
    return [new Date(startMs).toISOString(), ...figures].join(' ')
  })
}

/** Restores the state before any expiry. */
export async function reset(): Promise<void> {
  for (const table of ['readings', 'measurements']) {
    for (const kept of ['hours', 'expired']) await exec(`DROP TABLE IF EXISTS ${table}_${kept}`)
    await exec(`TRUNCATE TABLE ${table}`)
  }
  // A truncated table makes its view invalid for minutes, for which an erase waits. A missing view is created at once.
  await exec(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)
  await store.postgres.query('DELETE FROM retention')
}

/** An assertion that failed fails the test. */
const withoutBugs = (t: Test, log: Log): Log => ({
  ...log,
  warn: (...words: unknown[]) => {
    const [fields, text] = words as [{ reason?: string }, string]
    if (fields.reason?.startsWith('BUG')) t.fail(fields.reason)
    log.warn(fields, text)
  },
})

export async function openUnconfirmed(
  t: Test,
  more: Partial<RetentionOptions & ExpiringReplica> = {},
): Promise<Retention> {
  const kept = 'days' in more ? more.days : days
  const { nowMs = Date.now } = more
  const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days: kept, nowMs })
  const timing = { checkEveryMs: 60, marginMs: 0, graceMs: 0, ...more.timing }
  const retention = openRetention({
    days: kept,
    acceptedFrom,
    replicas: [
      {
        number: 1,
        questdb: store.questdb,
        exec,
        readings: { ...ingest.replicas[0], endOfAll: ingest.endOfAll },
        ...more,
      },
    ],
    nowMs: Date.now,
    ...more,
    log: withoutBugs(t, more.log ?? silentLog),
    timing,
  })
  t.teardown(() => retention.close())
  return retention
}

/** A person has confirmed the due days. */
export async function open(t: Test, more: Partial<RetentionOptions & ExpiringReplica> = {}): Promise<Retention> {
  const kept = 'days' in more ? more.days : days
  const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days: kept, nowMs: Date.now })
  if (kept !== undefined) await acceptedFrom.raise(today - kept * dayMs)
  return await openUnconfirmed(t, more)
}

export const rawStarts = async () => (await listRawDays(exec)).map(({ startMs }) => startMs)
export const keptDays = Array.from({ length: days }, (_, age) => today - dayMs * (age + 1)).toReversed()
export const firstDay = today - dayCount * dayMs

await send(porch)
await send(roof)
export const porchHours = await hours(porch, Number.NEGATIVE_INFINITY)

/** Values of one series beside the readings. */
async function measure(): Promise<void> {
  const rows = Array.from({ length: dayCount }, (_, age) => {
    return `('${new Date(today - age * dayMs - dayMs / 2).toISOString()}', 1, ${age})`
  })
  await exec(`INSERT INTO measurements VALUES ${rows.join(', ')}`)
  const isThere = async () => (await exec('SELECT count() FROM measurements'))[0]?.[0] === dayCount
  await until('the values are there', isThere)
}

async function kill(given: Kill): Promise<NodeJS.Signals | null> {
  const script = join(import.meta.dirname, 'expiring-process.ts')
  const parent = join(import.meta.dirname, '..', '..', '..', 'support', 'end-with-parent.ts')
  const child = spawn(process.execPath, [`--import=${parent}`, script, JSON.stringify(given)], { stdio: 'inherit' })
  t.teardown(() => child.kill('SIGKILL'))
  const [, signal] = await once(child, 'exit')
  return signal
}

/** The process is killed at a writing statement. The next run completes its work. */
export async function killThenEnd(t: Test, statement: number, when: Kill['when']): Promise<void> {
  const text = `${when} statement ${statement}`
  await reset()
  await send(porch)
  await measure()
  t.equal(await kill({ http: address.http, beforeMs, statement, when }), 'SIGKILL', text)
  const left = (await listRawDays(exec, expiringMeasurements)).map(({ startMs }) => startMs)
  const raw = await rawStarts()
  t.ok(
    raw.every(startMs => left.includes(startMs)),
    `${text}: no reading without its values`,
  )
  // Some of it may still be sent again by the journal.
  if (when === 'after') await send(porch)
  const retention = await open(t)
  const isOver = async () =>
    retention.expiredBeforeUs() === beforeMs * 1000 &&
    retention.state().oldestDayMs === beforeMs &&
    (await listRawDays(exec, expiringMeasurements))[0]?.startMs === beforeMs
  await until('it is ended', isOver)
  t.strictSame(await rawStarts(), keptDays, text)
  t.strictSame(await hours(porch, retention.expiredBeforeUs()), porchHours, text)
  t.strictSame(await exec('SELECT count(), sum(count) FROM measurements_hours'), [[3, 3]], text)
  t.strictSame(await exec('SELECT count(), sum(hours) FROM measurements_expired'), [[3, 3]], text)
  t.strictSame(await exec('SELECT count(), sum(hours) FROM readings_expired'), [[3, 6]], text)
  await retention.close()
}
