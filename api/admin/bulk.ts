/** Groups operations with bodies other than JSON objects: imports, backups, content files. */

import type { WriteLateAudit } from '../../auth/audit.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { BulkFields } from '../../auth/metrics/device-fields.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { Ingest, PointsIngest } from '../../ingest/ingest.ts'
import type { Ranges, TimeLimits } from '../../ingest/reading.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import type { BackupParts } from '../../service/backup/backup-parts.ts'
import type { Retention } from '../../service/lifecycle/retention/retention.ts'
import type { Store } from '../../store/store.ts'
import { packageVersion } from '../../store/version.ts'
import type { OperationGroup } from '../http/route-family.ts'
import type { BulkMeter } from '../write/bulk-meter.ts'
import { backupGroup } from './backup.ts'
import { contentFileGroup } from './content-files.ts'
import type { GuardOptions } from './guard.ts'
import { importPointsGroup, importReadingsGroup } from './imports.ts'
import type { AdminOperation } from './operation.ts'

export interface BulkOptions extends TimeLimits, Pick<GuardOptions, 'findPrincipal' | 'log'> {
  devices: Devices
  bulkFields: BulkFields
  stations: Stations
  ingest: Ingest
  pointsIngest: PointsIngest
  store: Store
  directory: BackupParts['directory']
  /** Free disk space that the journals leave. */
  reserveBytes: number
  retention: Pick<Retention, 'whileNoDayExpires'>
  /** Imported readings have the same ranges as single readings. */
  ranges: Ranges
  meter: BulkMeter
  rejections: Rejections
}

export function bulkGroups(options: BulkOptions, audit: WriteLateAudit): OperationGroup<AdminOperation>[] {
  const { ingest, pointsIngest, store, retention, ranges, aheadMsMax, earliestMs, findPrincipal } = options
  const { devices, bulkFields } = options
  const imports = { ranges, aheadMsMax, audit, findPrincipal }
  const parts = { ...options, ingest: { readings: ingest, points: pointsIngest }, version: packageVersion() }
  return [
    backupGroup({ parts, whileNoDayExpires: retention.whileNoDayExpires, audit }),
    importReadingsGroup({ ...imports, ingest, devices, bulkFields, earliestMs, meter: options.meter }),
    importPointsGroup({ ...imports, pointsIngest, stations: options.stations, rejections: options.rejections }),
    contentFileGroup(store.postgres),
  ]
}
