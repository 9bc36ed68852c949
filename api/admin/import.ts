/** `POST /api/admin/import`: imports readings with their own times. */

import { type Device, nameFault } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { BulkFields } from '../../auth/metrics/bulk-fields.ts'
import { writeRefusalReason } from '../../auth/writers.ts'
import { NamesUnavailable } from '../../ingest/import/import.ts'
import type { FieldResolver, SentField } from '../../ingest/import/resolve-names.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { composed } from '../../store/plain-text.ts'
import type { OperationGroup } from '../http/route-family.ts'
import type { BulkMeter } from '../write/bulk-meter.ts'
import { type ImportRoute, type ImportRouteOptions, importGroup } from './import-route.ts'
import type { AdminOperation } from './operation.ts'

export interface ImportOptions extends ImportRouteOptions {
  ingest: Pick<Ingest, 'append' | 'clockUs'>
  devices: Pick<Devices, 'get'>
  bulkFields: BulkFields
  meter: BulkMeter
}

function unknownDevice(name: string) {
  // The command line adds unknown devices if their names are valid.
  const code = nameFault(name) === undefined ? 'DEVICE_UNKNOWN' : 'NAME_INVALID'
  return { code, reason: writeRefusalReason(code, name) } as const
}

export function importReadingsGroup(options: ImportOptions): OperationGroup<AdminOperation> {
  const { ingest, devices, bulkFields, meter } = options
  const find = (name: string) => devices.get(name) ?? unknownDevice(composed(name))
  const route: ImportRoute = {
    path: '/import',
    name: 'admin_import_readings',
    summary: 'Import readings',
    kind: 'readings',
    ingest,
    resolve: async names => names.map(([name = '']) => find(name)),
    fields: actor => fieldResolver(names => names.map(find), bulkFields, actor),
    noRowsCode: 'NO_READINGS',
    onResult(sender, { report, failure }) {
      const source = { way: 'import', sender } as const
      meter.taken(source, report.accepted, report)
      if (failure !== undefined) meter.refused(source, failure.reason)
    },
  }
  return importGroup(route, options)
}

function fieldResolver(find: FieldResolver['find'], { resolve, metricsOf }: BulkFields, actor: string): FieldResolver {
  return {
    find,
    async resolve(sent) {
      // The registry has resolved these.
      const found = await resolve(sent as readonly (SentField & { device: Device })[], actor)
      if (found === 'later') throw new NamesUnavailable('PostgreSQL does not answer')
      return found
    },
    metricsOf,
  }
}
