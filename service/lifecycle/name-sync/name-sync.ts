/** Copies names to QuestDB: of devices, and of their series of metrics. */

import type { NamedDevice } from '../../../auth/devices/device.ts'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { NamedSeries } from '../../../auth/metrics/metric-rows.ts'
import type { Metrics } from '../../../auth/metrics/metrics.ts'
import { bug } from '../../../store/limits/bug.ts'
import type { QuestdbReplica } from '../../../store/questdb/questdb-replicas.ts'
import { ensureDeviceNames, ensureSeriesNames } from '../../../store/questdb/questdb-tables.ts'
import { deviceNamesTable, seriesNamesTable, usPerDeviceNumber, usPerSeriesNumber } from '../../../store/tables.ts'
import { type NameCopyOptions, type NameSource, openNameCopy } from './name-copy.ts'

type NamingDevices = Pick<Devices, 'version' | 'sequence' | 'namesSince'>
type NamingMetrics = Pick<Metrics, 'seriesMax' | 'seriesGiven' | 'namedSeries'>

export interface NamesOptions extends Omit<NameCopyOptions<never>, 'source' | 'questdb' | 'replica'> {
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
