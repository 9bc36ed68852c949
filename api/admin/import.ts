/** `POST /api/admin/import`: readings with times of their own. */

import { composedName, nameFault } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { writeRefusalReason } from '../../auth/writers.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { OperationGroup } from '../http/register-operations.ts'
import type { BulkMeter } from '../write/bulk-meter.ts'
import { type ImportRoute, type ImportRouteOptions, importGroup } from './import-route.ts'
import type { AdminOperation } from './operation.ts'

export interface ImportOptions extends ImportRouteOptions {
  ingest: Pick<Ingest, 'append' | 'clockUs'>
  devices: Pick<Devices, 'get'>
  meter: BulkMeter
}

function unknownDevice(name: string) {
  // The command line makes devices of names that are unknown, if they can be names.
  const code = nameFault(name) === undefined ? 'DEVICE_UNKNOWN' : 'NAME_INVALID'
  return { code, reason: writeRefusalReason(code, name) } as const
}

export function importReadingsGroup(options: ImportOptions): OperationGroup<AdminOperation> {
  const { ingest, devices, meter } = options
  const route: ImportRoute = {
    path: '/import',
    name: 'admin_import_readings',
    summary: 'Import readings',
    kind: 'readings',
    ingest,
    resolve: async names => names.map(([name = '']) => devices.get(name) ?? unknownDevice(composedName(name))),
    noRowsCode: 'NO_READINGS',
    onResult(sender, { report, failure }) {
      const source = { way: 'import', sender } as const
      meter.taken(source, report.accepted, report)
      if (failure !== undefined) meter.refused(source, failure.reason)
    },
  }
  return importGroup(route, options)
}
