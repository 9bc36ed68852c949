/** Resolves fields of readings without a built-in column, for all protocols. */

import type { Device } from '../devices/device.ts'
import type { Sighting } from './metric-discovery.ts'
import type { Metrics } from './metrics.ts'

/** Series of a field's values, and their accepted range. */
export interface DeviceField {
  /** Number of the device's and metric's series. */
  readonly series: number
  /** -Infinity without a limit. */
  readonly min: number
  /** Infinity without a limit. */
  readonly max: number
}

/** `metrics` lists the device's metrics; null for all that it sends. */
export type FieldDevice = Pick<Device, 'number' | 'metrics' | 'owner'>

export interface DeviceFields {
  /** Reads memory. Undefined for a field that is not stored, and for a missing one. */
  find(device: FieldDevice, field: string): DeviceField | undefined
  /** Fields whose metric or series `ensure` has to make, before `find` finds them. Reads memory. */
  missing(device: FieldDevice, fields: readonly string[]): Sighting[]
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

/** A device with a list of metrics accepts only those, which are registered. */
function isTaken({ metrics }: Pick<FieldDevice, 'metrics'>, name: string | undefined): boolean {
  return metrics === null || (name !== undefined && metrics.includes(name))
}
