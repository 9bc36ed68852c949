/**
 * The registry of devices. All of it is in memory, so that a reading is authenticated without a query to PostgreSQL; a
 * change is committed there first and then made in memory, before its call is answered.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { hasEnded } from '../../store/postgres/transaction.ts'
import type { Device, DeviceDetails } from './device.ts'
import { createDeviceChanges, type DeviceChanges } from './device-changes.ts'
import { type DevicePage, devicePage } from './device-list.ts'
import { DeviceMemory } from './device-memory.ts'
import * as sql from './device-sql.ts'
import { createLastSeen } from './last-seen.ts'
import { createMutex } from './mutex.ts'
import { digestEquals, digestOf } from './password.ts'
import { createReconciler } from './reconciler.ts'

export interface Devices extends DeviceChanges {
  /** From memory. The object is the registry's own and follows every change. */
  get(name: string): Device | undefined
  /** From memory, with the same work for a name that nobody has. */
  authenticate(name: string, password: string): Device | undefined
  /** Updates when the device was last seen; PostgreSQL gets it later, in a batch. */
  seen(device: Pick<Device, 'number'>, timeMs: number): void
  /** Those with `log_switch`, in the order of names; the same array until something changes. */
  active(): readonly Device[]
  /** Raised by each change. */
  version(): number
  size(): number
  details(name: string): DeviceDetails | undefined
  /** Pages count from 1. */
  list(search: string, page: number): DevicePage
  /** Finds out what came of the last change if that is not known; false while it cannot be found out. */
  reconcile(): Promise<boolean>
  close(): Promise<void>
}

export interface DevicesOptions {
  pool: pg.Pool
  now: () => number
  log: Pick<Log, 'warn'>
  /** How long an old password stays good beside a new one. */
  graceMs: number
  devicesMax?: number
  /** How often last-seen times are saved. */
  flushMs?: number
  /** How long PostgreSQL may take for each step of a change; a healthy one takes some milliseconds. */
  stepMs?: number
}

const rowsPerRead = 1000
const seenPerStatement = 5_000
const changesWaitingMax = 1_000
const closeMsMax = 3_000

export async function openDevices(options: DevicesOptions): Promise<Devices> {
  const { pool, now, log, graceMs, devicesMax = 1_000_000, flushMs = 60_000, stepMs = 4_000 } = options
  const memory = new DeviceMemory()
  await load(pool, memory)

  const mutex = createMutex(changesWaitingMax)
  const reconciler = createReconciler({
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
    readSince: async sequence => {
      for (const row of await sql.readChangedSince(pool, sequence)) memory.apply(row)
    },
    failed: error => log.warn({ err: error }, 'outcome of a device change unknown, reconciling'),
    retryMs: 1_000,
  })
  const changes = createDeviceChanges({
    ...{ pool, memory, mutex, reconciler, now, graceMs, devicesMax, stepMs },
    failed: error => log.warn({ err: error }, 'device change failed or unconfirmed'),
  })
  const lastSeen = createLastSeen({
    save: (numbers, timesMs) => sql.saveLastSeen(pool, numbers, timesMs),
    failed: error => log.warn({ err: error }, 'last-seen times could not be saved, retrying'),
    flushMs,
    batchMax: seenPerStatement,
  })

  function authenticate(name: string, password: string): Device | undefined {
    const record = memory.get(name)
    const digest = digestOf(password)
    if (record === undefined) {
      digestEquals(digest, undefined)
      return undefined
    }
    return record.accepts(digest, now()) ? record : undefined
  }

  return {
    ...changes,
    get: name => memory.get(name),
    authenticate,
    seen: ({ number }, timeMs) => {
      const record = memory.byNumber(number)
      if (record !== undefined) lastSeen.seen(record, timeMs)
    },
    active: () => memory.active(),
    version: () => memory.version(),
    size: () => memory.size(),
    details: name => memory.get(name)?.details(now()),
    list: (search, page) => devicePage(memory.all(), search, page, now()),
    reconcile: reconciler.reconcile,
    close: async () => {
      reconciler.close()
      await mutex.idle()
      // What a frozen PostgreSQL does not take now is lost, which is better than a stop that hangs.
      await Promise.race([lastSeen.close(), sleep(closeMsMax, undefined, { ref: false })])
    },
  }
}

/** In slices, so that the rows of a large registry are not all held twice. */
async function load(pool: pg.Pool, memory: DeviceMemory): Promise<void> {
  // Read first: what commits meanwhile is newer than this, and counts as unknown to memory.
  memory.raiseSequence(await sql.highestSequence(pool))
  let number = 0
  for (;;) {
    const rows = await sql.readAfter(pool, number, rowsPerRead)
    for (const row of rows) memory.apply(row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsPerRead) return
    number = last.number
  }
}
