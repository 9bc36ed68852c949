/** The readings of a device that lie in several shards as those of one: each stretch of time is asked of the shard that has it. */

import { type Place, placesWithin } from '../../placement/placement.ts'
import { hourlyAggregates, metrics } from '../../store/tables.ts'
import { mapColumns } from '../map-columns.ts'
import type { ReadingsSource } from '../questdb/readings-source.ts'
import type { HourlySeries, Series } from '../series.ts'
import { joinedColumn, joinedColumns } from './joined.ts'
import type { OpenShard } from './shard-reads.ts'

const { NEGATIVE_INFINITY: everUs } = Number

/** `places`: all that the device has. */
export function createPlacedReadings(places: readonly Place[], open: OpenShard): ReadingsSource {
  /** Newest first. */
  const backwards = (fromUs: number, toUs: number) => placesWithin(places, fromUs, toUs).reverse()

  return {
    async series({ symbol, afterUs, throughUs, rowsMax }, signal) {
      const parts: Series[] = []
      let left = rowsMax
      for (const { shard, fromUs, toUs } of placesWithin(places, afterUs + 1, throughUs + 1)) {
        const range = { symbol, afterUs: fromUs - 1, throughUs: toUs - 1 }
        const part = await open(shard).source.series({ ...range, rowsMax: left }, signal)
        left -= part.timesMs.length
        parts.push(part)
      }
      const values = joinedColumns(
        metrics,
        parts.map(part => part.values),
      )
      return { timesMs: joinedColumn(parts.map(part => part.timesMs)), values }
    },
    async hourly(asked, signal) {
      const parts: HourlySeries[] = []
      for (const { shard, fromUs, toUs } of placesWithin(places, asked.fromUs, asked.toUs)) {
        parts.push(await open(shard).source.hourly({ ...asked, fromUs, toUs }, signal))
      }
      return {
        startsMs: joinedColumn(parts.map(part => part.startsMs)),
        metrics: mapColumns(metrics, metric => {
          return joinedColumns(
            hourlyAggregates,
            parts.map(part => part.metrics[metric]),
          )
        }),
      }
    },
    async newestUs(symbol, throughUs, signal) {
      for (const { shard, fromUs, toUs } of backwards(everUs, throughUs + 1)) {
        const newestUs = await open(shard).source.newestUs(symbol, toUs - 1, signal)
        if (newestUs !== undefined && newestUs >= fromUs) return newestUs
      }
      return undefined
    },
    async newestExpiredHourUs(symbol, beforeUs, signal) {
      for (const { shard, fromUs, toUs } of backwards(everUs, beforeUs)) {
        const hourUs = await open(shard).source.newestExpiredHourUs(symbol, toUs, signal)
        if (hourUs !== undefined && hourUs >= fromUs) return hourUs
      }
      return undefined
    },
    async newestTimes({ symbol, afterUs, throughUs, countMax }, signal) {
      const parts: Float64Array[] = []
      let left = countMax
      for (const { shard, fromUs, toUs } of backwards(afterUs + 1, throughUs + 1)) {
        if (left === 0) break
        const range = { symbol, afterUs: fromUs - 1, throughUs: toUs - 1 }
        const part = await open(shard).source.newestTimes({ ...range, countMax: left }, signal)
        left -= part.length
        parts.unshift(part)
      }
      return joinedColumn(parts)
    },
  }
}
