/** The fields of bulk bodies, as the registry of metrics has them: what somebody who writes has sent makes what is missing. */

import type { Device } from '../../auth/devices/device.ts'
import type { BulkFields } from '../../auth/metrics/bulk-fields.ts'
import { NamesUnavailable } from '../../ingest/import/import-session.ts'
import type { FieldResolver, SentField } from '../../ingest/import/resolve-fields.ts'
import { findDevices } from './resolve-devices.ts'
import type { Sender } from './sender.ts'

export function createFieldResolver({ resolve, metricsOf }: BulkFields, sender: Sender): FieldResolver {
  return {
    find: names => known(findDevices(names, sender.writer())),
    // Resolved by the registry.
    resolve: async sent =>
      known(await resolve(sent as readonly (SentField & { device: Device })[], sender.writer().id)),
    metricsOf,
  }
}

/** A client drops for good what is rejected, and sends again what gets a 503. */
export function known<Found>(found: Found | 'later'): Found {
  if (found !== 'later') return found
  throw new NamesUnavailable('a device is being changed, or PostgreSQL does not answer')
}
