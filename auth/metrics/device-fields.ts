/** What the fields of a device's readings that have no column are to the registry: the one answer for every way in. */

import type { Device } from '../devices/device.ts'
import type { Sighting } from './first-sight.ts'
import type { Metrics } from './metrics.ts'

/** Where the values of a field are stored, and which of them are accepted. */
export interface DeviceField {
  /** The number of the series of device and metric. */
  readonly series: number
  /** -Infinity without a limit. */
  readonly min: number
  /** Infinity without a limit. */
  readonly max: number
}

/** `metrics` is the list of what the device has; null for whatever it sends. */
export type FieldDevice = Pick<Device, 'number' | 'metrics' | 'owner'>

export interface DeviceFields {
  /** From memory. Undefined for a field that is stored as no metric, and for one that is missing. */
  find(device: FieldDevice, field: string): DeviceField | undefined
  /**
   * Those of the fields whose metric or series `ensure` of the registry makes; afterwards `find` finds them, as far as there
   * is room. From memory.
   */
  missing(device: FieldDevice, fields: readonly string[]): Sighting[]
  /** The same of one field; undefined where nothing is missing. */
  missingOne(device: FieldDevice, field: string): Sighting | undefined
}

export function createDeviceFields(metrics: Pick<Metrics, 'find' | 'series' | 'refusalOf'>): DeviceFields {
  function missingOne(device: FieldDevice, field: string): Sighting | undefined {
    const metric = metrics.find(field)
    if (metric !== undefined && (metric.built_in || metrics.series(device.number, metric) !== undefined))
      return undefined
    if (!isTaken(device, metric?.name)) return undefined
    const sighting = sightingOf(device, field)
    return metrics.refusalOf(sighting) === undefined ? sighting : undefined
  }

  return {
    find(device, field) {
      const metric = metrics.find(field)
      if (metric === undefined || !isTaken(device, metric.name)) return undefined
      const series = metrics.series(device.number, metric)
      if (series === undefined) return undefined
      return { series, min: metric.min ?? Number.NEGATIVE_INFINITY, max: metric.max ?? Number.POSITIVE_INFINITY }
    },
    missing(device, fields) {
      return fields.map(field => missingOne(device, field)).filter(sighting => sighting !== undefined)
    },
    missingOne,
  }
}

function sightingOf({ number, owner }: FieldDevice, field: string): Sighting {
  return { device: number, field, owner }
}

/** Of a device that lists its metrics, those alone; what is in a list is in the registry. */
function isTaken({ metrics }: Pick<FieldDevice, 'metrics'>, name: string | undefined): boolean {
  return metrics === null || (name !== undefined && metrics.includes(name))
}
