/** The values without a column of a device whose readings lie in several shards, as those of one. */

import type { Samples } from '../../analytics/present.ts'
import { type Place, placesWithin } from '../../placement/placement.ts'
import { hourlyAggregates, seriesHourColumns } from '../../store/tables.ts'
import type { MeasurementsSource } from '../questdb/measurements-source.ts'
import { joinedColumns, joinedMaps } from './joined.ts'
import type { OpenShard } from './shard-reads.ts'

const hourNames = ['startsMs', ...hourlyAggregates] as const
const keptNames = seriesHourColumns.map(({ name }) => name)
const sampleNames = ['timesMs', 'values'] as const

/** `places`: all that the device has. */
export function createPlacedMeasurements(places: readonly Place[], open: OpenShard): MeasurementsSource {
  async function hoursOf<Hours>(
    { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
    read: (source: MeasurementsSource, range: { fromUs: number; toUs: number }) => Promise<ReadonlyMap<number, Hours>>,
  ): Promise<ReadonlyMap<number, Hours>[]> {
    const parts: ReadonlyMap<number, Hours>[] = []
    for (const { shard, ...range } of placesWithin(places, fromUs, toUs)) {
      parts.push(await read(open(shard).measurements, range))
    }
    return parts
  }

  async function endOf(
    name: 'newest' | 'oldest',
    { series, samplesMax = 1, afterUs, throughUs }: Parameters<MeasurementsSource['newest']>[0],
    signal: AbortSignal,
  ): Promise<Samples> {
    const asked = placesWithin(places, afterUs + 1, throughUs + 1)
    const parts: Samples[] = []
    let left = samplesMax
    for (const { shard, fromUs, toUs } of name === 'newest' ? asked.reverse() : asked) {
      const range = { series, samplesMax: left, afterUs: fromUs - 1, throughUs: toUs - 1 }
      const found = await open(shard).measurements[name](range, signal)
      parts.push(found)
      left -= found.timesMs.length
      if (left === 0) break
    }
    return joinedColumns(sampleNames, name === 'newest' ? parts.reverse() : parts)
  }

  return {
    async samples({ series, afterUs, throughUs, rowsMax }, signal) {
      let left = rowsMax
      const parts = await hoursOf({ fromUs: afterUs + 1, toUs: throughUs + 1 }, async (source, { fromUs, toUs }) => {
        const range = { series, afterUs: fromUs - 1, throughUs: toUs - 1 }
        const part = await source.samples({ ...range, rowsMax: left }, signal)
        for (const { timesMs } of part.values()) left -= timesMs.length
        return part
      })
      return joinedMaps(parts, of => joinedColumns(sampleNames, of))
    },
    async hours(asked, signal) {
      const parts = await hoursOf(asked, (source, range) => source.hours({ ...asked, ...range }, signal))
      return joinedMaps(parts, of => joinedColumns(hourNames, of))
    },
    async keptHours(asked, signal) {
      const parts = await hoursOf(asked, (source, range) => source.keptHours({ ...asked, ...range }, signal))
      return joinedMaps(parts, of => ({
        startsMs: joinedColumns(['startsMs'], of).startsMs,
        columns: joinedColumns(
          keptNames,
          of.map(({ columns }) => columns),
        ),
      }))
    },
    newest: (asked, signal) => endOf('newest', asked, signal),
    oldest: (asked, signal) => endOf('oldest', asked, signal),
  }
}
