/** The fields of the devices in a body, as the main thread resolved them, for the check of its rows. */

import type { CustomField } from '../custom-fields.ts'
import type { ReadingDevice } from '../whole-reading.ts'

/** Plain data, so that it can be posted to another thread. */
export interface PackedFields {
  /** By the index of the device's name: 0 where its readings are rejected. */
  isDevice: Uint8Array<ArrayBuffer>
  /** Lists of metrics by the index of the device's name, where devices have one. */
  lists: ReadonlyMap<number, readonly string[]>
  /** Distinct names of fields. */
  names: readonly string[]
  /** By field name: its metric. */
  metrics: readonly (string | undefined)[]
  /** Pairs of the indexes of the device's name and of the field, for stored fields. */
  pairs: Uint32Array<ArrayBuffer>
  /** Series of each pair. */
  series: Uint32Array<ArrayBuffer>
  min: Float64Array<ArrayBuffer>
  max: Float64Array<ArrayBuffer>
}

export interface ResolvedFields {
  /** The device of the name with this index. */
  deviceOf(name: number): ReadingDevice
}

export function createResolvedFields(packed: PackedFields): ResolvedFields {
  const metricOf = new Map(packed.names.map((name, index) => [name, packed.metrics[index]]))
  const fieldsOf = fieldsByDevice(packed)
  const devices: ReadingDevice[] = []
  return {
    deviceOf(name) {
      devices[name] ??= {
        metrics: packed.lists.get(name) ?? null,
        fieldOf: packed.isDevice[name] === 1 ? field => fieldsOf.get(name)?.get(field) : () => anyField,
        nameOf: field => metricOf.get(field),
      }
      return devices[name]
    },
  }
}

/** Rows without a device are rejected for that reason, not for their content. */
const anyField: CustomField = { series: 0, min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY }

function fieldsByDevice({ names, pairs, series, min, max }: PackedFields): Map<number, Map<string, CustomField>> {
  const fields = new Map<number, Map<string, CustomField>>()
  for (let at = 0; at < series.length; at++) {
    const device = pairs[2 * at] as number
    const name = names[pairs[2 * at + 1] as number] as string
    const field = { series: series[at] as number, min: min[at] as number, max: max[at] as number }
    const known = fields.get(device)
    if (known === undefined) fields.set(device, new Map([[name, field]]))
    else known.set(name, field)
  }
  return fields
}
