/** Changes the registry: commits in PostgreSQL, applies in memory, then returns. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { metricsMax } from '../../store/metrics/metric.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import {
  countMetrics,
  idsOf,
  insertMetrics,
  lockMetrics,
  lockMetricsNamed,
  type MetricRow,
  metricFields,
} from '../metrics/metric-rows.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import {
  type Changed,
  type CommitOptions,
  type Commits,
  createCommits,
  createHandOver,
  type Refusal,
  unknownDevice,
  type WithHandOver,
} from './commits.ts'
import type { DeviceChange, DeviceDetails, IssuedPassword, NewDevice, Rotated } from './device.ts'
import type { DeviceMemory } from './device-memory.ts'
import { numbersOf } from './device-record.ts'
import type { Namesake } from './device-sql.ts'
import * as sql from './device-sql.ts'
import { digestOf, makePasswords } from './password.ts'

export interface DeviceChanges {
  /** Adds all or none. `by` is the principal for the audit. `ownedMax` bounds the devices of an owner. */
  add(devices: readonly NewDevice[], by: string, ownedMax?: number): Promise<Changed<IssuedPassword[]>>
  change(name: string, change: DeviceChange, by: string): Promise<Changed<DeviceDetails>>
  /** Adds a new password, with the old one valid for the grace time or ended at once. */
  rotate(name: string, endOld: boolean, by: string): Promise<Changed<Rotated>>
  /** Takes the number, so that a repeated call never removes a newer device of the same name. */
  remove(number: number, by: string): Promise<Changed<undefined>>
  /** Removes the device in one transaction with `write`, which covers all present and former devices of the name. */
  removeNamed<Value>(
    name: string,
    write: (transaction: Transaction, namesakes: readonly Namesake[]) => Promise<Value>,
    by: string,
  ): Promise<Changed<Value>>
  withHandOver: WithHandOver
}

export interface DeviceChangesOptions extends CommitOptions {
  now: () => number
  graceMs: number
  devicesMax: number
  /** Called with metrics of the catalogue that were registered because a device lists them. */
  metricsAdded: (metrics: readonly MetricRow[]) => void
}

export function createDeviceChanges(options: DeviceChangesOptions): DeviceChanges {
  const { memory, feed, now, graceMs, metricsAdded } = options
  const commits = createCommits(options)
  const { exclusively, transact, applyRow } = commits

  function change(name: string, wanted: DeviceChange, by: string): Promise<Changed<DeviceDetails>> {
    const names = wanted.name === undefined ? [] : [wanted.name]
    return exclusively(names, async () => {
      const record = memory.get(name)
      if (record === undefined) return unknownDevice
      const done = await transact(async transaction => {
        const listed = await registerListed(transaction, new Set(wanted.metrics), by)
        if (!listed.ok) return listed
        noteListed(feed, transaction, listed.added)
        feed.note(transaction, 'device', [record.number])
        return { ...listed, row: await sql.updateSettings(transaction, record.number, wanted, by) }
      })
      if (!done.ok) return done
      metricsAdded(done.added)
      return applyRow(record, done.row, () => record.details(now()))
    })
  }

  function rotate(name: string, endOld: boolean, by: string): Promise<Changed<Rotated>> {
    const [password = ''] = makePasswords(1)
    const graceEndsMs = now() + graceMs
    return exclusively([], async () => {
      const record = memory.get(name)
      if (record === undefined) return unknownDevice
      const { number } = record
      const digest = digestOf(password)
      const credential = { digest, nowMs: now(), graceEndsMs, usedNext: record.usedNext() }
      const update = (transaction: Transaction) => {
        feed.note(transaction, 'device', [number])
        return endOld
          ? sql.replaceCredential(transaction, number, digest, by)
          : sql.addCredential(transaction, number, credential, by)
      }
      const row = await transact(update, endOld ? [record] : [])
      const old_password_until = endOld ? null : new Date(graceEndsMs).toISOString()
      return applyRow(record, row, () => ({ device: record.name, password, old_password_until }))
    })
  }

  return {
    add: createAdd(options, commits),
    change,
    rotate,
    ...createRemovals(options, commits),
    withHandOver: createHandOver({ ...options, commits }),
  }
}

function createRemovals(
  { memory, feed, now }: DeviceChangesOptions,
  { exclusively, transact, applyRow }: Commits,
): Pick<DeviceChanges, 'remove' | 'removeNamed'> {
  const markRemoved = (transaction: Transaction, number: number, by: string) => {
    feed.note(transaction, 'device', [number])
    return sql.markRemoved(transaction, number, by, now())
  }

  function remove(number: number, by: string): Promise<Changed<undefined>> {
    return exclusively([], async () => {
      const record = memory.byNumber(number)
      if (record === undefined) return unknownDevice
      return applyRow(
        record,
        await transact(transaction => markRemoved(transaction, number, by), [record]),
        () => undefined,
      )
    })
  }

  function removeNamed<Value>(
    name: string,
    write: (transaction: Transaction, namesakes: readonly Namesake[]) => Promise<Value>,
    by: string,
  ): Promise<Changed<Value>> {
    return exclusively([], async () => {
      const record = memory.get(name)
      const done = await transact(
        async transaction => {
          const namesakes = await sql.readNamesakes(transaction, name)
          if (namesakes.length === 0) return undefined
          const value = await write(transaction, namesakes)
          const row = record && (await markRemoved(transaction, record.number, by))
          return { value, row }
        },
        record === undefined ? [] : [record],
      )
      if (done === undefined) return unknownDevice
      if (record !== undefined) applyRow(record, done.row, () => undefined)
      return { ok: true, value: done.value }
    })
  }

  return { remove, removeNamed }
}

function createAdd(
  { memory, feed, now, devicesMax, metricsAdded }: DeviceChangesOptions,
  { exclusively, transact }: Commits,
): DeviceChanges['add'] {
  async function addNow(
    devices: readonly NewDevice[],
    by: string,
    limits: AddLimits,
  ): Promise<Changed<IssuedPassword[]>> {
    const refusal = refuseAdditions(memory, devices, limits)
    if (refusal !== undefined) return refusal
    const passwords = makePasswords(devices.length)
    const issued = devices.map(({ name }, at) => ({ device: name, password: passwords[at] ?? '' }))
    const issues = devices.map((device, at) => ({ device, digest: digestOf(issued[at]?.password ?? '') }))
    const names = new Set(devices.flatMap(({ metrics }) => metrics ?? []))
    const done = await transact(async transaction => {
      const listed = await registerListed(transaction, names, by)
      if (!listed.ok) return listed
      const rows = await sql.insertDevices(transaction, issues, by, now())
      noteListed(feed, transaction, listed.added)
      feed.note(transaction, 'device', numbersOf(rows))
      return { ...listed, rows }
    })
    if (!done.ok) return done
    metricsAdded(done.added)
    for (const row of done.rows) memory.apply(row)
    return { ok: true, value: issued }
  }

  return (devices, by, ownedMax = Number.POSITIVE_INFINITY) =>
    exclusively(
      devices.map(({ name }) => name),
      () => addNow(devices, by, { devicesMax, ownedMax }),
    )
}

function noteListed(feed: ChangeFeed, transaction: Transaction, added: readonly MetricRow[]): void {
  if (added.length > 0) feed.note(transaction, 'metric', idsOf(added))
}

interface AddLimits {
  devicesMax: number
  /** Limit for one owner. */
  ownedMax: number
}

function refuseAdditions(
  memory: DeviceMemory,
  devices: readonly NewDevice[],
  { devicesMax, ownedMax }: AddLimits,
): Refusal | undefined {
  const refusal = refuseNames(memory, devices)
  if (refusal !== undefined) return refusal
  const haveRoom = memory.size() + devices.length <= devicesMax && ownersHaveRoom(memory, devices, ownedMax)
  return haveRoom ? undefined : { ok: false, code: 'REGISTRY_FULL' }
}

function ownersHaveRoom(memory: DeviceMemory, devices: readonly NewDevice[], ownedMax: number): boolean {
  const counts = new Map<number, number>()
  for (const { owner } of devices) if (owner !== null) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  for (const [owner, count] of counts) if (memory.ownedBy(owner) + count > ownedMax) return false
  return true
}

/** Refuses names that are repeated in the request or taken. */
function refuseNames(memory: DeviceMemory, devices: readonly NewDevice[]): Refusal | undefined {
  const once = new Set<string>()
  const twice = new Set<string>()
  for (const { name } of devices) {
    if (once.has(name)) twice.add(name)
    once.add(name)
  }
  if (twice.size > 0) return { ok: false, code: 'NAME_TWICE', names: [...twice] }
  const taken = [...once].filter(name => memory.get(name) !== undefined)
  return taken.length > 0 ? { ok: false, code: 'NAME_TAKEN', names: taken } : undefined
}

type Listed =
  /** Metrics of the catalogue that were registered for it. */
  { ok: true; added: MetricRow[] } | { ok: false; code: 'METRICS_UNKNOWN'; names: string[] } | Full
type Full = { ok: false; code: 'REGISTRY_FULL' }

/**
 * Registers names that only the catalogue has. The metrics are locked against removal until the end of the transaction.
 */
async function registerListed(transaction: Transaction, names: ReadonlySet<string>, by: string): Promise<Listed> {
  if (names.size === 0) return { ok: true, added: [] }
  await lockMetrics(transaction)
  const missing = await lockMetricsNamed(transaction, [...names])
  const unknown = missing.filter(name => catalogueEntry(name)?.name !== name)
  if (unknown.length > 0) return { ok: false, code: 'METRICS_UNKNOWN', names: unknown }
  if (missing.length === 0) return { ok: true, added: [] }
  if ((await countMetrics(transaction)) + missing.length > metricsMax) return { ok: false, code: 'REGISTRY_FULL' }
  const fields = missing.map(name => metricFields({ name }))
  const added = await insertMetrics(
    transaction,
    fields,
    fields.map(() => by),
  )
  // Another process may have registered some, and may remove them.
  const gone = added.length === missing.length ? [] : await lockMetricsNamed(transaction, missing)
  return gone.length === 0 ? { ok: true, added } : { ok: false, code: 'METRICS_UNKNOWN', names: gone }
}
