/**
 * Entry point of this folder: the device registry. It is in memory, so a reading is authenticated without a query to
 * PostgreSQL. A change is committed to PostgreSQL and then applied in memory before the call returns.
 */

import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import { createMutex } from '../../store/limits/mutex.ts'
import type { Log } from '../../store/log.ts'
import { hasEnded } from '../../store/postgres/transaction.ts'
import { createTextSearch, listPage, rowsOfPage, rowsPerPage } from '../list-page.ts'
import { type MetricRow, readMetricsNamed } from '../metrics/metric-rows.ts'
import { type ChangeFeed, noFeed } from '../nodes/change-feed.ts'
import type { Device, DeviceDetails, DevicePage, NamedDevice } from './device.ts'
import { createDeviceChanges, type DeviceChanges } from './device-changes.ts'
import { DeviceMemory } from './device-memory.ts'
import type { DeviceRecord } from './device-record.ts'
import * as sql from './device-sql.ts'
import { createPasswordCheck, type PasswordCheck } from './password-check.ts'
import { createReconciler } from './reconciler.ts'
import { createSeenDevices, type SeenDevices } from './seen-devices.ts'

export interface Devices extends DeviceChanges, PasswordCheck, Pick<SeenDevices, 'seen' | 'received'> {
  /** Reads memory. The returned object is live: it reflects later changes. */
  get(name: string): Device | undefined
  /** Finds a device by the registry's number. */
  byNumber(number: number): Device | undefined
  /** False while memory may lack changes of other nodes; writes are refused then. */
  isCurrent(): boolean
  /** All devices, or an account's, ordered by name; valid until the next change. */
  all(owner?: number): readonly Device[]
  /** Devices with `log_switch`. The same array until one of them changes. */
  active(owner?: number): readonly Device[]
  /** Devices with a tag for each of these, where `key:*` stands for any value. Both lists are ordered by name. */
  tagged(
    tags: readonly string[],
    owner?: number,
  ): { readonly all: readonly Device[]; readonly active: readonly Device[] }
  version(): number
  /** The highest committed sequence number, from PostgreSQL. */
  sequence(): Promise<number>
  /** Reads PostgreSQL; see `readNamesSince`. */
  namesSince(sequence: number, rowsMax: number): Promise<NamedDevice[]>
  /** Calls the listener after each change in PostgreSQL and memory. It must not throw. */
  onChange(listener: (device: Device, isRemoved: boolean) => void): void
  size(): number
  ownedBy(account: number): number
  /** The last-seen time is the later one of memory and PostgreSQL, or memory's while PostgreSQL does not answer. */
  details(name: string): Promise<DeviceDetails | undefined>
  /** A page of details, ordered by name or by another key. Pages count from 1. */
  list(search: string, page: number, order?: DeviceOrder): Promise<DevicePage>
  /** Resolves the unknown outcome of the last change, if any; false while PostgreSQL is unavailable. */
  reconcile(): Promise<boolean>
  close(): Promise<void>
}

/** Devices with the same key are in the order of their names. */
interface DeviceOrder {
  readonly by: 'name' | 'place' | ((device: Device) => number)
  readonly isDescending: boolean
}

export interface DevicesOptions {
  pool: pg.Pool
  now: () => number
  log: Pick<Log, 'warn'>
  /** Validity of an old password after a rotation. */
  graceMs: number
  devicesMax?: number
  /** Called with metrics that were registered because devices list them: this process's registry may lack them. */
  metricsAdded?: (metrics: readonly MetricRow[]) => void
  /** Interval of saving last-seen times. */
  flushMs?: number
  /** Timeout of each statement of a change; normally it takes milliseconds. */
  stepMs?: number
  feed?: ChangeFeed
  /** True if `received` gets all seen readings. */
  isReceived?: boolean
}

const rowsPerRead = 1000
const changesWaitingMax = 1_000

export async function openDevices(options: DevicesOptions): Promise<Devices> {
  const { pool, now, log, graceMs, devicesMax = 1_000_000, flushMs = 60_000, stepMs = 4_000 } = options
  const { metricsAdded = () => {}, feed = noFeed, isReceived = false } = options
  const memory = new DeviceMemory()
  await load(pool, memory)

  const mutex = createMutex(changesWaitingMax)
  const reconciler = createReconciler({
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
    readSince: sequence => readSince(pool, memory, sequence, metricsAdded),
    failed: error => log.warn({ err: error }, 'outcome of a device change unknown, reconciling'),
    retryMs: 1_000,
  })
  feed.onChange('device', numbers => reload(pool, memory, numbers))
  const changes = createDeviceChanges({
    pool,
    feed,
    memory,
    mutex,
    reconciler,
    now,
    graceMs,
    devicesMax,
    metricsAdded,
    stepMs,
    failed: error => log.warn({ err: error }, 'device change failed or unconfirmed'),
  })
  const seenDevices = createSeenDevices({ pool, memory, log, flushMs, unsavedMax: devicesMax, isReceived })
  const passwordCheck = createPasswordCheck({ pool, feed, memory, now, log, unsavedMax: devicesMax })

  return {
    ...changes,
    get: name => memory.get(name),
    byNumber: number => memory.byNumber(number),
    isCurrent: feed.isCurrent,
    authenticate: passwordCheck.authenticate,
    credentialCheck: passwordCheck.credentialCheck,
    seen: seenDevices.seen,
    received: seenDevices.received,
    all: owner => memory.all(owner),
    active: owner => memory.active(owner),
    tagged: (tags, owner) => memory.tagged(tags, owner),
    version: () => memory.version(),
    sequence: () => sql.highestSequence(pool),
    namesSince: (sequence, rowsMax) => sql.readNamesSince(pool, sequence, rowsMax),
    onChange: listener => memory.onChange(listener),
    size: () => memory.size(),
    ownedBy: account => memory.ownedBy(account),
    async details(name) {
      const record = memory.get(name)
      if (record === undefined) return undefined
      await seenDevices.learn([record])
      return record.details(now())
    },
    async list(search, page, order) {
      const { records, ...rest } = await pageOfDevices(memory.all(), search, page, order)
      await seenDevices.learn(records)
      return { devices: records.map(record => record.details(now())), ...rest }
    },
    reconcile: reconciler.reconcile,
    close: async () => {
      reconciler.close()
      await mutex.idle()
      await Promise.all([seenDevices.close(), passwordCheck.close()])
    },
  }
}

/** Applies changed rows, with the metrics that they list. */
async function readSince(
  pool: pg.Pool,
  memory: DeviceMemory,
  sequence: number,
  metricsAdded: (metrics: readonly MetricRow[]) => void,
): Promise<void> {
  const rows = await sql.readChangedSince(pool, sequence)
  const listed = rows.flatMap(({ metrics }) => metrics ?? [])
  if (listed.length > 0) metricsAdded(await readMetricsNamed(pool, listed))
  for (const row of rows) memory.apply(row)
}

/** Applies changes of other nodes. */
async function reload(pool: pg.Pool, memory: DeviceMemory, numbers: readonly number[]): Promise<void> {
  for (let from = 0; from < numbers.length; from += rowsPerRead) {
    const rows = await sql.readNumbered(pool, numbers.slice(from, from + rowsPerRead))
    for (const row of rows) memory.apply(row)
  }
}

/** Loads in batches, so that a large registry is not held twice in memory. */
async function load(pool: pg.Pool, memory: DeviceMemory): Promise<void> {
  // Read first: changes that commit meanwhile have a higher sequence and are read again.
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

interface RecordPage extends Omit<DevicePage, 'devices'> {
  records: readonly DeviceRecord[]
}

/** Searches name, place, description and tags without regard to case. Pages count from 1. */
async function pageOfDevices(
  all: readonly DeviceRecord[],
  search: string,
  page: number,
  { by, isDescending }: DeviceOrder = { by: 'name', isDescending: false },
): Promise<RecordPage> {
  const found = search === '' ? all : all.filter(finder(search))
  const records =
    by === 'name'
      ? rowsOfPage(isDescending ? found.toReversed() : found, page)
      : await sortedPage(found, page, keyOf(by), isDescending)
  return { records, ...listPage(found.length, page) }
}

type KeyOf = (record: DeviceRecord) => string | number

function keyOf(by: Exclude<DeviceOrder['by'], 'name'>): KeyOf {
  if (by !== 'place') return by
  return ({ location_short }) => location_short.toLowerCase()
}

const recordsPerSlice = 2_000

/** Sorts slices and merges them up to the page: one sort of a million devices would stop the process for seconds. */
async function sortedPage(
  records: readonly DeviceRecord[],
  page: number,
  keyOf: KeyOf,
  isDescending: boolean,
): Promise<DeviceRecord[]> {
  interface Keyed {
    readonly record: DeviceRecord
    readonly key: string | number
  }
  const sign = isDescending ? -1 : 1
  const compare = (a: Keyed, b: Keyed) => (a.key === b.key ? 0 : a.key < b.key ? -sign : sign)
  const slices: Keyed[][] = []
  for (let from = 0; from < records.length; from += recordsPerSlice) {
    const slice = records.slice(from, from + recordsPerSlice).map(record => ({ record, key: keyOf(record) }))
    // The next one is the last, to be taken by a pop.
    slices.push(slice.sort(compare).reverse())
    await setImmediate()
  }
  const merged: DeviceRecord[] = []
  for (const count = Math.min(page * rowsPerPage, records.length); merged.length < count; ) {
    // Of equal keys the earlier slice has the earlier names.
    let next: Keyed | undefined
    let from: Keyed[] | undefined
    for (const slice of slices) {
      const head = slice.at(-1)
      if (head === undefined || (next !== undefined && compare(head, next) >= 0)) continue
      next = head
      from = slice
    }
    from?.pop()
    if (next !== undefined) merged.push(next.record)
    if (merged.length % rowsPerPage === 0) await setImmediate()
  }
  return rowsOfPage(merged, page)
}

function finder(search: string): (record: DeviceRecord) => boolean {
  const isFound = createTextSearch(search)
  return ({ name, location_short, location_desc, tags }) =>
    isFound(name) || isFound(location_short) || isFound(location_desc) || tags.some(isFound)
}
