/** At a node: takes nothing more of what another node erases. */

import type pg from 'pg'
import type { ChangeFeed } from '../../../auth/nodes/change-feed.ts'
import type { Ingest, PointsIngest } from '../../../ingest/ingest.ts'
import { erasedCustom } from '../../../ingest/journal/record.ts'
import { readSeries } from './erase-records.ts'

export interface RefuseErasedOptions {
  feed: ChangeFeed
  pool: Pick<pg.Pool, 'query'>
  ingest: { readings: Pick<Ingest, 'refuseSeries'>; points: Pick<PointsIngest, 'refuseSeries'> }
  /** Whoever keeps values by series in memory: none of these come any more. */
  forgetSeries?: ((numbers: readonly number[]) => Promise<void>) | undefined
  /** Removes entries about a device or station of this name from memory. */
  forgetName?: ((name: string) => void) | undefined
  /** Told that there are jobs. */
  added: () => void
}

/** Behind the registries, which no longer have what is erased when this is told of it. */
export function refuseErased({ feed, pool, ingest, forgetSeries, forgetName, added }: RefuseErasedOptions): void {
  feed.onChange('erase', async ids => {
    for (const { rowsOf, numbers, name } of await readSeries(pool, ids)) {
      if (rowsOf === 'points') ingest.points.refuseSeries(numbers)
      else ingest.readings.refuseSeries(rowsOf === 'measurements' ? numbers.map(erasedCustom) : numbers)
      if (rowsOf !== 'measurements') forgetName?.(name)
      // It ends early when the service is closed.
      if (rowsOf === 'measurements') void forgetSeries?.(numbers).catch(() => undefined)
    }
    added()
  })
}
