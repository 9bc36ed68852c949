/** Groups the operations on the service and its data: state, export, dead letters, retention, audit. */

import type { WriteLateAudit } from '../../auth/audit.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import type { Nodes } from '../../auth/nodes/nodes.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { Ingest, PointsIngest } from '../../ingest/ingest.ts'
import type { TopicState } from '../../ingest/kafka/state/watch.ts'
import type { TimeLimits } from '../../ingest/reading.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import type { ReadingsExport } from '../../query/export/readings-export.ts'
import type { DiskUse } from '../../service/lifecycle/disk/disk-use.ts'
import type { Retention } from '../../service/lifecycle/retention/retention.ts'
import type { DataDirectory } from '../../store/data-directory.ts'
import type { Log } from '../../store/log.ts'
import type { Store } from '../../store/store.ts'
import { type ArchiveRouteOptions, archiveOperations, retentionOperation } from './archive.ts'
import { auditOperation } from './audit.ts'
import { deadLetterOperations } from './dead-letters.ts'
import { exportOperation } from './export.ts'
import type { AdminOperation } from './operation.ts'
import { rejectionsOperation, unknownDevicesOperation } from './rejections.ts'
import { stationSeriesNames } from './stations.ts'
import { type StatusOptions, statusOperation } from './status.ts'
import { statusHistoryOperation } from './status-history.ts'

export interface StateOptions extends Pick<TimeLimits, 'aheadMsMax'> {
  devices: Devices
  stations: Stations
  metrics: Metrics
  ingest: Ingest
  pointsIngest: PointsIngest
  readingsExport: ReadingsExport
  rejections: Rejections
  store: Store
  directory: Pick<DataDirectory, 'path'>
  diskUse: Pick<DiskUse, 'read'>
  archive: ArchiveRouteOptions['archive']
  retention: Pick<Retention, 'state' | 'confirm'>
  /** Kafka topics that serve as journals; undefined with journals on disk. */
  topics?: (() => TopicState[]) | undefined
  replicas?: StatusOptions['replicas']
  questdbRead?: Pick<Store['questdb'], 'address'>
  /** Undefined for a single process. */
  nodes?: Pick<Nodes, 'own' | 'states'> | undefined
  alertEngine?: StatusOptions['alertEngine']
  setAside?: StatusOptions['setAside']
  /** True if this service has started PostgreSQL. */
  isPostgresManaged: boolean
  mqttPort?: StatusOptions['mqttPort']
  reads: StatusOptions['reads']
  log: Log
}

export function stateOperations(options: StateOptions, audit: WriteLateAudit): AdminOperation[] {
  const { devices, stations, metrics, ingest, pointsIngest, readingsExport, store, aheadMsMax, log } = options
  return [
    ...deadLetterOperations({
      deadLetters: { readings: ingest.deadLetters, points: pointsIngest.deadLetters },
      seriesNames: { readings: undefined, points: () => stationSeriesNames(stations) },
      audit,
    }),
    rejectionsOperation(options.rejections, options.nodes?.own),
    unknownDevicesOperation(options.rejections, name => devices.get(name) !== undefined, options.nodes?.own),
    exportOperation({ readingsExport, devices, metrics, nowMs: Date.now, aheadMsMax, audit, log }),
    auditOperation(store.postgres),
    statusOperation({ ...options, dataDirectory: options.directory.path }),
    statusHistoryOperation(options.questdbRead ?? store.questdb),
    ...archiveOperations({ archive: options.archive, audit }),
    retentionOperation({ retention: options.retention, audit }),
  ]
}
