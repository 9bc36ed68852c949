/** Removes devices, metrics and stations, with their erase jobs in the same transaction, and refuses rows of erased series. */

import type pg from 'pg'
import { writeAudit } from '../../../auth/audit.ts'
import type { Changed } from '../../../auth/devices/commits.ts'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { Metrics } from '../../../auth/metrics/metrics.ts'
import type { SeriesRemoved } from '../../../auth/metrics/series-removal.ts'
import type { ChangeFeed } from '../../../auth/nodes/change-feed.ts'
import { type Station, subjectOfStation } from '../../../auth/stations/station.ts'
import type { StationChanged } from '../../../auth/stations/station-rows.ts'
import type { Stations } from '../../../auth/stations/stations.ts'
import type { Ingest, PointsIngest } from '../../../ingest/ingest.ts'
import { erasedCustom } from '../../../ingest/journal/record.ts'
import type { Transaction } from '../../../store/postgres/transaction.ts'
import type { Store } from '../../../store/store.ts'
import {
  type AddedJob,
  type EraseReport,
  insertJob,
  insertMetricJob,
  insertStationJob,
  type MetricEraseReport,
  readSeries,
} from './erase-records.ts'

export interface EraseRequests {
  /** Requests the erasure for every device that has or had the name, and removes a present one before it resolves. */
  request(name: string, by: string): Promise<Changed<EraseReport>>
  /**
   * Removes a metric from the device of this name and requests the erasure of its values, including values of failed
   * jobs. If the device sends it again, it is a new one. Rejects like `Metrics.removeSeries`.
   */
  requestMetric(name: string, metric: string, by: string): Promise<SeriesRemoved<MetricEraseReport> | DeviceUnknown>
  /** Removes a station and requests the erasure of its points, also of failed jobs. Rejects like `Stations.remove`. */
  removeStation(station: Station, by: string): Promise<StationChanged<undefined>>
  /** Repeats a failed erasure of a removed station; STATION_UNKNOWN without one. Rejects like `removeStation`. */
  eraseStationAgain(sn: string, by: string): Promise<StationChanged<undefined>>
}

interface DeviceUnknown {
  ok: false
  code: 'DEVICE_UNKNOWN'
}

interface EraseRequestsOptions {
  devices: Pick<Devices, 'get' | 'removeNamed'>
  metrics: Pick<Metrics, 'removeSeries'>
  stations: Pick<Stations, 'remove'>
  store: Pick<Store, 'postgres'>
  feed: ChangeFeed
  /** Called when there may be a job. */
  added: () => void
}

/** Time limit of each statement of a request that removes nothing. */
const stepMs = 4_000

export function createEraseRequests(options: EraseRequestsOptions): EraseRequests {
  const { devices, metrics, stations, store, feed, added } = options
  /** When the request is answered, all nodes refuse rows of erased series. */
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
      // With an unknown outcome, there may be a job, too.
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
        // With an unknown outcome, there may be a job, too.
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
        // With an unknown outcome, there may be a job, too.
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
        // With an unknown outcome, there may be a job, too.
        added()
      }
    },
  }
}

interface RefuseErasedOptions {
  feed: ChangeFeed
  pool: Pick<pg.Pool, 'query'>
  ingest: { readings: Pick<Ingest, 'refuseSeries'>; points: Pick<PointsIngest, 'refuseSeries'> }
  /** Drops values of removed series from memory. */
  forgetSeries?: ((numbers: readonly number[]) => Promise<void>) | undefined
  /** Removes entries about a device or station of this name from memory. */
  forgetName?: ((name: string) => void) | undefined
  /** Called when there are jobs. */
  added: () => void
}

/** Listens after the registries, so that they have removed the erased records before this runs. */
export function refuseErased({ feed, pool, ingest, forgetSeries, forgetName, added }: RefuseErasedOptions): void {
  feed.onChange('erase', async ids => {
    for (const { rowsOf, numbers, name } of await readSeries(pool, ids)) {
      if (rowsOf === 'points') ingest.points.refuseSeries(numbers)
      else ingest.readings.refuseSeries(rowsOf === 'measurements' ? numbers.map(erasedCustom) : numbers)
      if (rowsOf !== 'measurements') forgetName?.(name)
      // Rejects when the service closes.
      if (rowsOf === 'measurements') void forgetSeries?.(numbers).catch(() => undefined)
    }
    added()
  })
}
