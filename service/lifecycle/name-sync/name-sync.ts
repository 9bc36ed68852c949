/** Copies names to QuestDB: of devices, and of their series of metrics. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { NamedDevice } from '../../../auth/devices/device.ts'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { NamedSeries } from '../../../auth/metrics/metric-rows.ts'
import type { Metrics } from '../../../auth/metrics/metrics.ts'
import { bug } from '../../../store/limits/bug.ts'
import { createMutex } from '../../../store/limits/mutex.ts'
import type { Log } from '../../../store/log.ts'
import { createQuestdbClient, type QuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import type { Questdb } from '../../../store/questdb/questdb.ts'
import type { QuestdbReplica } from '../../../store/questdb/questdb-replicas.ts'
import { ensureDeviceNames, ensureSeriesNames } from '../../../store/questdb/questdb-tables.ts'
import { untilTableApplied } from '../../../store/questdb/until-applied.ts'
import { deviceNamesTable, seriesNamesTable, usPerDeviceNumber, usPerSeriesNumber } from '../../../store/tables.ts'

type NamingDevices = Pick<Devices, 'version' | 'sequence' | 'namesSince'>
type NamingMetrics = Pick<Metrics, 'seriesMax' | 'seriesGiven' | 'namedSeries'>

interface NamesOptions extends Omit<NameCopyOptions<never>, 'source' | 'questdb' | 'replica'> {
  devices: NamingDevices
  metrics: NamingMetrics
  /** Each has all names. */
  replicas: readonly QuestdbReplica<NameCopyOptions<never>['questdb']>[]
}

export interface Names {
  sync(replica: number): Promise<void>
  close(): Promise<void>
}

export function openNames({ devices, metrics, replicas, ...options }: NamesOptions): Names {
  const copies = replicas.map(({ number, questdb }) => {
    const given = { ...options, questdb, replica: replicas.length > 1 ? number : undefined }
    const ofReplica = [
      openNameCopy({ ...given, source: deviceNames(devices) }),
      openNameCopy({ ...given, source: seriesNames(metrics) }),
    ]
    return { number, ofReplica }
  })
  return {
    async sync(replica) {
      const known = copies.find(({ number }) => number === replica)
      if (known === undefined) throw bug(`no names are copied to replica ${replica}`)
      await Promise.all(known.ofReplica.map(copy => copy.sync()))
    },
    async close() {
      await Promise.all(copies.flatMap(({ ofReplica }) => ofReplica).map(copy => copy.close()))
    },
  }
}

export function deviceNames(devices: NamingDevices): NameSource<NamedDevice> {
  return {
    table: deviceNamesTable,
    ensure: ensureDeviceNames,
    sequenceColumn: 'seq',
    version: devices.version,
    sequence: devices.sequence,
    namesSince: devices.namesSince,
    sequenceOf: ({ sequence }) => sequence,
    rowOf: deviceNameRow,
  }
}

/**
 * Series have ascending numbers and never change, so the number is the sequence, and a new maximum indicates a change.
 */
export function seriesNames({ seriesMax, seriesGiven, namedSeries }: NamingMetrics): NameSource<NamedSeries> {
  return {
    table: seriesNamesTable,
    ensure: ensureSeriesNames,
    sequenceColumn: 'series',
    version: seriesMax,
    sequence: seriesGiven,
    namesSince: namedSeries,
    sequenceOf: ({ number }) => number,
    rowOf: seriesNameRow,
  }
}

/** A removed device's row replaces the row with its name. */
function deviceNameRow({ number, symbol, name, location_short, removed, sequence }: NamedDevice): string {
  const texts = removed ? [] : [`name=${quoted(name)}`, `location_short=${quoted(location_short)}`]
  const columns = [...texts, `seq=${sequence}i`].join(',')
  return `${deviceNamesTable},device=${checkedSymbol(symbol)} ${columns} ${number * usPerDeviceNumber}t\n`
}

function seriesNameRow({ number, symbol, metric }: NamedSeries): string {
  if (!/^[a-z0-9_]+$/.test(metric)) throw bug(`a metric is ${metric}`)
  const symbols = `device=${checkedSymbol(symbol)},metric=${metric}`
  return `${seriesNamesTable},${symbols} series=${number}i ${number * usPerSeriesNumber}t\n`
}

function checkedSymbol(symbol: string): string {
  if (!/^[a-z0-9-]+$/.test(symbol)) throw bug(`a symbol is ${symbol}`)
  return symbol
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"\n\r]/g, '\\$&')}"`
}

interface NameCopy {
  /** Resolves when QuestDB has all present names and no removed ones. Rejects if another node may be copying. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** Source and target of a copy. */
interface NameSource<Name> {
  readonly table: string
  /** Creates the table if it is missing. */
  ensure(client: Pick<QuestdbClient, 'exec'>): Promise<void>
  readonly sequenceColumn: string
  /** Increases with each change. */
  version(): number
  /** Returns a number that is at least the highest committed sequence number. */
  sequence(): Promise<number>
  /** Names after a sequence number, ascending. */
  namesSince(sequence: number, rowsMax: number): Promise<Name[]>
  sequenceOf(name: Name): number
  /** A row of line protocol with its line break. */
  rowOf(name: Name): string
}

interface NameCopyOptions<Name> {
  source: NameSource<Name>
  questdb: Pick<Questdb, 'address' | 'state'>
  /** Number of the QuestDB's replica; undefined with a single one. */
  replica?: number | undefined
  /** True if this process copies. */
  leads?: () => boolean
  log: Pick<Log, 'warn'>
  checkEveryMs?: number
}

const timeoutMs = 30_000
const pollMs = 50
/** These rows take some milliseconds of the main thread. */
const rowsPerRequest = 1000

/**
 * Keeps a copy of names in QuestDB. Each change of the registry has a sequence number, so the missing names are PostgreSQL's after
 * QuestDB's highest number, without a comparison or stored state. One node copies for all.
 */
export function openNameCopy<Name>(options: NameCopyOptions<Name>): NameCopy {
  const { source, questdb, replica, leads = () => true, log, checkEveryMs = 2000 } = options
  let client = createQuestdbClient(questdb.address.http, 1)
  const closing = new AbortController()
  const { signal } = closing
  const pause = async (ms: number) => void (await sleep(ms, undefined, { signal, ref: false }))
  /** QuestDB has all names up to here; undefined until it was read. */
  let synced: number | undefined
  let syncedVersion: number | undefined
  const mutex = createMutex()

  async function syncChanges(): Promise<void> {
    try {
      const version = source.version()
      let at = synced ?? (await begin())
      for (;;) {
        signal.throwIfAborted()
        const changed = await source.namesSince(at, rowsPerRequest)
        const last = changed.at(-1)
        if (last === undefined) break
        requireLead(leads)
        await client.write(changed.map(source.rowOf).join(''), timeoutMs)
        at = source.sequenceOf(last)
      }
      requireLead(leads)
      synced = at
      syncedVersion = version
    } catch (error) {
      forget()
      throw error
    }
  }

  /** A connection that has written to a dropped table acknowledges rows and discards them, so a new one is used. */
  function begin(): Promise<number> {
    client.close()
    client = createQuestdbClient(questdb.address.http, 1)
    return findBrought(source, whileLeading(client, leads), () => pause(pollMs))
  }

  /** The next attempt may meet another QuestDB, or one that has lost rows. */
  function forget(): void {
    synced = undefined
    syncedVersion = undefined
  }

  function sync(): Promise<void> {
    return mutex.run(syncChanges)
  }

  let isLogged = false
  async function check(): Promise<void> {
    if (questdb.state().state !== 'up' || !leads()) return forget()
    if (source.version() === syncedVersion) return
    try {
      await sync()
      isLogged = false
    } catch (error) {
      if (!isLogged && !signal.aborted)
        log.warn({ err: error, table: source.table, replica }, 'names not copied to QuestDB, retrying')
      isLogged = true
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      await pause(checkEveryMs).catch(() => undefined)
      if (signal.aborted) return
      await check()
    }
  }

  const watching = watch()
  return {
    sync,
    async close() {
      closing.abort()
      client.close()
      await Promise.all([watching, mutex.idle()])
    },
  }
}

function requireLead(leads: () => boolean): void {
  if (!leads()) throw new Error('another node copies the names')
}

/** Sends no statements if another node may be copying. */
function whileLeading(client: QuestdbClient, leads: () => boolean): Pick<QuestdbClient, 'exec'> {
  return {
    exec(sql, timeoutMs) {
      requireLead(leads)
      return client.exec(sql, timeoutMs)
    },
  }
}

/** A wrong copy is recreated: a suspended table, or one ahead of the registry, as after a restore. */
async function findBrought<Name>(
  { table, sequenceColumn, ensure, sequence }: NameSource<Name>,
  client: Pick<QuestdbClient, 'exec'>,
  pause: () => Promise<void>,
): Promise<number> {
  const exec = (sql: string) => client.exec(sql, timeoutMs)
  const [suspended] = await exec(`SELECT suspended FROM wal_tables() WHERE name = '${table}'`)
  if (suspended?.[0] === true) await exec(`DROP TABLE ${table}`)
  await ensure(client)
  await untilTableApplied(exec, table, pause)
  const [row] = await exec(`SELECT max(${sequenceColumn}) FROM ${table}`)
  const highest = Number(row?.[0] ?? 0)
  // Read second: no process has changes that PostgreSQL lacks.
  if (highest <= (await sequence())) return highest
  await exec(`DROP TABLE ${table}`)
  await ensure(client)
  return 0
}
