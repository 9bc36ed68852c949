/** Finds the metrics of a reading's fields, for one reading and for bulk bodies. */

import { setImmediate as turn } from 'node:timers/promises'
import type { Device } from '../devices/device.ts'
import type { Sighting } from './metric-discovery.ts'
import type { Metrics } from './metrics.ts'

/** Series of a field's values, and their accepted range. */
interface DeviceField {
  /** Number of the device's and metric's series. */
  readonly series: number
  /** -Infinity without a limit. */
  readonly min: number
  /** Infinity without a limit. */
  readonly max: number
}

/** `metrics` lists the device's metrics; null for all that it sends. */
export type FieldDevice = Pick<Device, 'number' | 'metrics' | 'owner'>

interface DeviceFields {
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

/** A field that a device has sent. */
interface SentField {
  readonly device: FieldDevice
  readonly field: string
}

export interface BulkFields {
  /** Results follow `sent`. Undefined for a field that is not stored; `later` while nothing can be made. */
  resolve(sent: readonly SentField[], by: string): Promise<(DeviceField | undefined)[] | 'later'>
  metricsOf(fields: readonly string[]): Promise<(string | undefined)[]>
}

/** Some milliseconds of the event loop. */
const fieldsPerTurn = 1000
/** Limit for a transaction, which may serve several callers. */
const fieldsPerCall = 5000

export function createBulkFields(metrics: Pick<Metrics, 'find' | 'series' | 'refusalOf' | 'ensure'>): BulkFields {
  const { find, missingOne } = createDeviceFields(metrics)

  async function resolveSome(sent: readonly SentField[], by: string): Promise<(DeviceField | undefined)[] | 'later'> {
    const missing = await inTurns(sent, ({ device, field }) => missingOne(device, field))
    const lacking = missing.filter(sighting => sighting !== undefined)
    if ((await metrics.ensure(lacking, by)) === 'later') return 'later'
    return await inTurns(sent, ({ device, field }) => find(device, field))
  }

  return {
    async resolve(sent, by) {
      const found: (DeviceField | undefined)[] = []
      for (const some of slicesOf(sent, fieldsPerCall)) {
        const resolved = await resolveSome(some, by)
        if (resolved === 'later') return 'later'
        found.push(...resolved)
      }
      return found
    },
    metricsOf: fields => inTurns(fields, field => metrics.find(field)?.name),
  }
}

async function inTurns<Item, Found>(items: readonly Item[], find: (item: Item) => Found): Promise<Found[]> {
  const found: Found[] = []
  for (const some of slicesOf(items, fieldsPerTurn)) {
    if (found.length > 0) await turn()
    for (const item of some) found.push(find(item))
  }
  return found
}

function* slicesOf<Item>(items: readonly Item[], length: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += length) yield items.slice(from, from + length)
}
