/** The names that are copied to QuestDB: of devices, and of what their series of metrics are. */

import type { NamedDevice } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { NamedSeries } from '../../auth/metrics/metric-rows.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import { ensureDeviceNames, ensureSeriesNames } from '../../store/questdb/questdb-tables.ts'
import { deviceNamesTable, seriesNamesTable } from '../../store/tables.ts'
import { type NameCopy, type NameCopyOptions, type NameSource, openNameCopy } from './name-copy.ts'
import { deviceNameRow, seriesNameRow } from './name-rows.ts'

type NamingDevices = Pick<Devices, 'version' | 'sequence' | 'namesSince'>
type NamingMetrics = Pick<Metrics, 'seriesMax' | 'seriesGiven' | 'namedSeries'>

export interface NamesOptions extends Omit<NameCopyOptions<never>, 'source'> {
  devices: NamingDevices
  metrics: NamingMetrics
}

export function openNames({ devices, metrics, ...options }: NamesOptions): NameCopy {
  const copies = [
    openNameCopy({ ...options, source: deviceNames(devices) }),
    openNameCopy({ ...options, source: seriesNames(metrics) }),
  ]
  const all = (work: (copy: NameCopy) => Promise<void>) => Promise.all(copies.map(work)).then(() => undefined)
  return { sync: () => all(copy => copy.sync()), close: () => all(copy => copy.close()) }
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

/** Series come with new numbers and never change, so their number is the sequence, and the highest tells of a change. */
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
