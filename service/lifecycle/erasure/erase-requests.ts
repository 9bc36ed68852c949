/** What removes devices, metrics and stations, and writes their erase jobs in the same transaction. */

import { writeAudit } from '../../../auth/audit.ts'
import type { Changed } from '../../../auth/devices/commits.ts'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { Metrics } from '../../../auth/metrics/metrics.ts'
import type { SeriesRemoved } from '../../../auth/metrics/series-removal.ts'
import type { ChangeFeed } from '../../../auth/nodes/change-feed.ts'
import { type Station, subjectOfStation } from '../../../auth/stations/station.ts'
import type { StationChanged } from '../../../auth/stations/station-changes.ts'
import type { Stations } from '../../../auth/stations/stations.ts'
import type { Transaction } from '../../../store/postgres/transaction.ts'
import type { Store } from '../../../store/store.ts'
import {
  type AddedJob,
  type EraseReport,
  insertJob,
  insertMetricJob,
  insertStationJob,
  type MetricEraseReport,
} from './erase-records.ts'

export interface EraseRequests {
  /**
   * Has the readings erased of every device that has the name or had it when it was removed; one that has it is removed
   * before this resolves.
   */
  request(name: string, by: string): Promise<Changed<EraseReport>>
  /**
   * Takes a metric away from the device of this name, and has its values erased, also those of jobs that failed. A device that
   * sends it again has it as a new one. Rejects as `Metrics.removeSeries` does.
   */
  requestMetric(name: string, metric: string, by: string): Promise<SeriesRemoved<MetricEraseReport> | DeviceUnknown>
  /** Removes a station, and has its points erased, also those of failed jobs of its `sn`. Rejects as `Stations.remove` does. */
  removeStation(station: Station, by: string): Promise<StationChanged<undefined>>
  /** Has the points erased of a removed station whose job failed; STATION_UNKNOWN where there is none. Rejects as `removeStation`. */
  eraseStationAgain(sn: string, by: string): Promise<StationChanged<undefined>>
}

interface DeviceUnknown {
  ok: false
  code: 'DEVICE_UNKNOWN'
}

export interface EraseRequestsOptions {
  devices: Pick<Devices, 'get' | 'removeNamed'>
  metrics: Pick<Metrics, 'removeSeries'>
  stations: Pick<Stations, 'remove'>
  store: Pick<Store, 'postgres'>
  feed: ChangeFeed
  /** Told that there may be a job. */
  added: () => void
}

/** Of each statement of a request that removes nothing. */
const stepMs = 4_000

export function createEraseRequests(options: EraseRequestsOptions): EraseRequests {
  const { devices, metrics, stations, store, feed, added } = options
  /** No node takes anything of what is erased when the request is answered. */
  const noted = <Report>(transaction: Transaction, { id, report }: AddedJob<Report>): Report => {
    feed.note(transaction, 'erase', [id])
    return report
  }

  return {
    async request(name, by) {
      const requested = await devices.removeNamed(
        name,
        async (transaction, namesakes) => noted(transaction, await insertJob(transaction, name, namesakes, by)),
        by,
      )
      // There may be a job where the outcome is unknown, too.
      if (requested.ok || requested.code === 'OUTCOME_UNKNOWN') added()
      return requested
    },
    async requestMetric(name, metric, by) {
      const device = devices.get(name)
      if (device === undefined) return { ok: false, code: 'DEVICE_UNKNOWN' }
      try {
        return await metrics.removeSeries(device.number, metric, async (transaction, series) => {
          const job = await insertMetricJob(transaction, { device, metric, series, by })
          return job && noted(transaction, job)
        })
      } finally {
        // There may be a job where the outcome is unknown, too.
        added()
      }
    },
    async removeStation(station, by) {
      const numbers = [...station.series.values()]
      try {
        return await stations.remove(station, by, async transaction => {
          const id = await insertStationJob(transaction, station.sn, numbers)
          if (id !== undefined) noted(transaction, { id, report: undefined })
        })
      } finally {
        // There may be a job where the outcome is unknown, too.
        added()
      }
    },
    async eraseStationAgain(sn, by) {
      try {
        const isAdded = await feed.commit({ pool: store.postgres, stepMs }, async transaction => {
          const id = await insertStationJob(transaction, sn, [])
          if (id === undefined) return false
          noted(transaction, { id, report: undefined })
          await writeAudit(transaction, { actor: by, action: 'station.erase', subject: subjectOfStation(sn) })
          return true
        })
        if (!isAdded) return { ok: false, code: 'STATION_UNKNOWN' }
        await feed.settle()
        return { ok: true, value: undefined }
      } finally {
        // There may be a job where the outcome is unknown, too.
        added()
      }
    },
  }
}
