/** `POST /api/admin/import`: readings with times of their own. */

import type { FastifyInstance } from 'fastify'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { BulkMeter } from '../logger/bulk-meter.ts'
import { type ImportRoute, type ImportRouteOptions, registerImportRoute } from './import-route.ts'

export interface ImportOptions extends ImportRouteOptions {
  ingest: Pick<Ingest, 'append' | 'clockUs'>
  devices: Pick<Devices, 'get'>
  meter: BulkMeter
}

const unknownDevice = { code: 'DEVICE_UNKNOWN', reason: 'there is no device of this name' } as const

export function registerImport(scope: FastifyInstance, options: ImportOptions): void {
  const { ingest, devices, meter } = options
  const route: ImportRoute = {
    path: '/import',
    kind: 'readings',
    ingest,
    resolve: async names => names.map(([name = '']) => devices.get(name.normalize('NFC')) ?? unknownDevice),
    noRowsCode: 'NO_READINGS',
    count: ({ accepted, rejected }) => meter.taken('import', accepted, rejected),
  }
  registerImportRoute(scope, route, options)
}
