/** Resolves the fields of bulk bodies with the registry of metrics and registers missing ones. */

import type { Device } from '../../auth/devices/device.ts'
import type { BulkFields } from '../../auth/metrics/bulk-fields.ts'
import type { FieldResolver, SentField } from '../../ingest/import/resolve-names.ts'
import { changing, findDevices } from './resolve-devices.ts'
import type { Sender } from './sender.ts'

export function createFieldResolver({ resolve, metricsOf }: BulkFields, sender: Sender): FieldResolver {
  return {
    find: names => known(findDevices(names, sender.writer())),
    // The registry has resolved these.
    resolve: async sent =>
      known(await resolve(sent as readonly (SentField & { device: Device })[], sender.writer().id)),
    metricsOf,
  }
}

export function known<Found>(found: Found | 'later'): Found {
  if (found !== 'later') return found
  throw changing()
}
