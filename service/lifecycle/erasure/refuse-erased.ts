/** Refuses rows of series that another node erases. */

import type pg from 'pg'
import type { ChangeFeed } from '../../../auth/nodes/change-feed.ts'
import type { Ingest, PointsIngest } from '../../../ingest/ingest.ts'
import { erasedCustom } from '../../../ingest/journal/record.ts'
import { readSeries } from './erase-records.ts'

export interface RefuseErasedOptions {
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
