/** Removes a metric from a device. Its series is removed, and a later one has another number. */

import type pg from 'pg'
import { OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import type { MetricCommits } from './metric-commits.ts'
import type { MetricMemory } from './metric-memory.ts'
import { deleteSeries, readSeriesNumbers, type SeriesRow } from './metric-rows.ts'

export type SeriesRemoved<Value> =
  | { ok: true; value: Value }
  /** `METRIC_UNKNOWN`: the device has no such metric. */
  | { ok: false; code: 'METRIC_UNKNOWN' | 'METRIC_BUILT_IN' }

/**
 * Part of the transaction. Gets the number of the series, or undefined if the device has no such metric; returns
 * undefined if there is nothing to do for that.
 */
type WriteRemoval<Value> = (transaction: Transaction, series: number | undefined) => Promise<Value | undefined>

export interface SeriesRemoval {
  /** Rejects like PostgreSQL while it is unavailable; after OutcomeUnknown, `reconcile` resolves the outcome. */
  removeSeries<Value>(device: number, name: string, write: WriteRemoval<Value>): Promise<SeriesRemoved<Value>>
}

export interface SeriesRemovalOptions {
  pool: Pick<pg.Pool, 'query'>
  feed: ChangeFeed
  memory: MetricMemory
  commits: () => Pick<MetricCommits, 'exclusively' | 'transact'>
}

export function createSeriesRemoval({ pool, feed, memory, commits }: SeriesRemovalOptions) {
  /** Series whose removal was not confirmed. */
  const doubtful = new Map<number, SeriesRow>()

  function rowOf(device: number, name: string): SeriesRow | undefined {
    const metric = memory.get(name)
    const number = metric && memory.seriesOf(device, metric.id)
    return metric && number !== undefined ? { number, device, metric: metric.id } : undefined
  }

  async function removeNow<Value>(
    device: number,
    name: string,
    write: WriteRemoval<Value>,
  ): Promise<SeriesRemoved<Value>> {
    if (memory.get(name)?.built_in === true) return { ok: false, code: 'METRIC_BUILT_IN' }
    const row = rowOf(device, name)
    try {
      const value = await commits().transact(async transaction => {
        const number = row && (await deleteSeries(transaction, row))
        if (row !== undefined) {
          feed.note(transaction, 'series-removed', [row.number])
          feed.note(transaction, 'series', [row.device])
        }
        return await write(transaction, number)
      })
      if (row !== undefined) memory.removeSeries(row)
      return value === undefined ? { ok: false, code: 'METRIC_UNKNOWN' } : { ok: true, value }
    } catch (error) {
      if (error instanceof OutcomeUnknown && row !== undefined) doubtful.set(row.number, row)
      throw error
    }
  }

  return {
    async removeSeries(device, name, write) {
      const removed = await commits().exclusively(() => removeNow(device, name, write))
      await feed.settle()
      return removed
    },
    /** Removes these from memory if PostgreSQL no longer has them. */
    async readAgain(): Promise<void> {
      if (doubtful.size === 0) return
      const present = new Set(await readSeriesNumbers(pool, [...doubtful.keys()]))
      for (const [number, row] of doubtful) if (!present.has(number)) memory.removeSeries(row)
      doubtful.clear()
    },
  } satisfies SeriesRemoval & { readAgain(): Promise<void> }
}
