/** Resolves fields of many devices at once and makes missing metrics and series. */

import { setImmediate as turn } from 'node:timers/promises'
import { createDeviceFields, type DeviceField, type FieldDevice } from './device-fields.ts'
import type { Metrics } from './metrics.ts'

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
