/**
 * The cost of running means: the service's query with the rows of the hour before, against the same query without
 * means. The two alternate in this process.
 */

import { median, quantile } from 'simple-statistics'
import { createPointTexts, writePoints } from '../query/points/point-texts.ts'
import type { SliceQuery } from '../query/points/points-queries.ts'
import { createPointsSource } from '../query/points/points-source.ts'
import { pointsTasks } from '../query/points/points-tasks.ts'
import type { RunningMeans } from '../query/points/running-means.ts'
import { createPgConnection } from '../store/questdb/client/questdb-pg.ts'
import type { AirQualityServer, BenchStation } from './air-quality-server.ts'
import type { Bounds } from './bounds.ts'
import { type Hooks, round } from './measure.ts'

interface MeansSetting {
  fromUs: number
  toUs: number
  /** Per station. */
  rows: number
  samples: number
}

const addedMax = 1.5
const warmups = 50
const timeZone = 'Asia/Kolkata'
const rowsMax = 100_000
const pages = [50, 1_000, 10_000]
const noMeans: RunningMeans = { at: () => [Number.NaN, Number.NaN, Number.NaN] }

export async function measureMeans(
  hooks: Hooks,
  bounds: Bounds,
  { questdb, stations }: AirQualityServer,
  setting: MeansSetting,
): Promise<void> {
  const connection = createPgConnection(questdb.pg, { connectTimeoutMs: 5_000, statementTimeoutMs: 60_000 })
  hooks.teardown(connection.close)
  const context = { source: createPointsSource(connection), rowsMax, signal: new AbortController().signal }

  /** The same page without means. */
  async function readPlain({ station, offset, count, format, direction: _, total: __, ...range }: SliceQuery) {
    const beside = range.series.length - 1
    const places = [Math.max(0, offset - beside), offset + count + beside] as const
    const asked = { ...range, places, rowsMax, rowsExpected: count + 2 * beside }
    writePoints(format, station, await context.source.rows(asked, context.signal), createPointTexts(timeZone), noMeans)
  }

  for (const count of pages.filter(rows => rows <= setting.rows / 4)) {
    const withMeans: number[] = []
    const plain: number[] = []
    for (let sample = -warmups; sample < setting.samples; sample++) {
      const query = queryOf(stations[(sample + warmups) % stations.length] as BenchStation, count, setting)
      const startedMs = performance.now()
      await pointsTasks.slice(query, context)
      const betweenMs = performance.now()
      await readPlain(query)
      if (sample < 0) continue
      withMeans.push(betweenMs - startedMs)
      plain.push(performance.now() - betweenMs)
    }
    const [ours, yardstick] = [median(withMeans), median(plain)]
    bounds.atMost(`a page of ${count} with running means, times without, p50`, ours / yardstick, addedMax, {
      p50Ms: round(ours),
      p95Ms: round(quantile(withMeans, 0.95)),
      yardstickMs: round(yardstick),
      samples: setting.samples,
    })
  }
}

/** A query in the middle of all points. */
function queryOf({ sn, series }: BenchStation, count: number, { fromUs, toUs, rows }: MeansSetting): SliceQuery {
  const list = Object.entries(series).map(([parameter, number]) => ({ parameter, number }))
  return {
    station: { sn, timeZone, series: list },
    series: list.map(({ number }) => number),
    fromUs,
    toUs,
    parts: [],
    direction: 'asc',
    offset: Math.floor(rows / 4),
    count,
    total: rows,
    format: 'json',
  }
}
