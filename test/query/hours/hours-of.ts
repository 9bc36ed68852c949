/** Asks an analysis by the hour of made hours, as its worker does. */

import { createLocalTime } from '../../../analytics/time/local-time.ts'
import type { HoursQuery } from '../../../query/analyses/gauge-hours.ts'
import type { CustomMetric } from '../../../query/custom-metric.ts'
import { allFromReadings } from '../../../query/questdb/hourly-sql.ts'
import type { Series } from '../../../query/series.ts'
import type { TaskContext } from '../../../query/task-context.ts'
import { metrics } from '../../../store/tables.ts'
import { plainDevice } from '../../support/plain-device.ts'

const hourMs = 3_600_000

type ValueAt = (startMs: number) => number

export interface MadeHours {
  readonly temperature?: ValueAt
  readonly humidity?: ValueAt
  readonly co2?: ValueAt
  readonly readings?: Series
  readonly timeZone?: string
}

const co2: CustomMetric = {
  name: 'co2',
  title: 'CO₂',
  kind: 'gauge',
  unit: 'ppm',
  decimals: 0,
  series: 7,
  column: undefined,
  quality: null,
  speed: undefined,
}
const door: CustomMetric = { ...co2, name: 'door', title: 'Door', kind: 'state', unit: null, series: 8 }

const device = plainDevice

export const hoursQuery: Omit<HoursQuery, 'nowMs'> = { device, custom: [co2, door], hourSources: allFromReadings }

export function contextOf({ timeZone = 'UTC', ...made }: MadeHours): TaskContext {
  const of = (at: ValueAt | undefined) => (fromUs: number, toUs: number) => {
    const startsMs: number[] = []
    for (let startMs = fromUs / 1000; startMs < toUs / 1000; startMs += hourMs) {
      if (at !== undefined && !Number.isNaN(at(startMs))) startsMs.push(startMs)
    }
    const mean = Float64Array.from(startsMs, startMs => at?.(startMs) ?? Number.NaN)
    const one = mean.map(() => 1)
    return { startsMs: Float64Array.from(startsMs), count: one, mean, std: one, min: mean, max: mean }
  }
  const unused = () => Promise.reject(new Error('not asked for'))
  return {
    local: createLocalTime(timeZone),
    rowsMax: 1e6,
    signal: new AbortController().signal,
    inUnits: async custom => custom,
    source: {
      series: () => (made.readings === undefined ? unused() : Promise.resolve(made.readings)),
      newestUs: unused,
      newestExpiredHourUs: unused,
      newestTimes: unused,
      async hourly({ fromUs, toUs }) {
        const startsMs = Float64Array.from({ length: (toUs - fromUs) / 1000 / hourMs }, (_, hour) => {
          return fromUs / 1000 + hour * hourMs
        })
        const columns = metrics.map(name => {
          const at = name === 'temperature' ? made.temperature : name === 'humidity' ? made.humidity : undefined
          const mean = startsMs.map(startMs => at?.(startMs) ?? Number.NaN)
          return [name, { count: mean, mean, std: mean, min: mean, max: mean }] as const
        })
        return { startsMs, metrics: Object.fromEntries(columns) as never }
      },
    },
    measurements: {
      samples: unused,
      keptHours: unused,
      newest: unused,
      oldest: unused,
      async hours({ fromUs, toUs, series }) {
        if (series.some(one => one !== co2.series)) throw new Error('other kinds are asked for, too')
        return made.co2 === undefined ? new Map() : new Map([[7, of(made.co2)(fromUs, toUs)]])
      },
    },
  }
}
