/** What a label says of noise, and of a cycle. */

import { autoregressive } from '../analytics/series.ts'
import { ask, every, hourMs, seriesOf } from '../query/stats/stats-of.ts'
import type { Property } from './property.ts'

const startMs = Date.UTC(2025, 5, 1)

function seasonalityOf(values: Float64Array) {
  const series = seriesOf(every(hourMs, startMs, values.length), { temperature: (_, hour) => values[hour] as number })
  return ask({ series }).seasonality.temperature
}

export const labelProperties: readonly Property[] = [
  ...[3, 4, 30].map(days => ({
    name: `a season in the label of ${days} days of white noise`,
    atMost: 0.05,
    run: (seed: number) => seasonalityOf(autoregressive(24 * days, 0, 31 * seed)).label !== 'none',
  })),
  {
    name: 'a season in the label of 30 days with a daily cycle as strong as white noise',
    atLeast: 0.95,
    run: seed => {
      const values = autoregressive(720, 0, seed).map(
        (value, hour) => value + 1.4 * Math.sin((2 * Math.PI * hour) / 24),
      )
      return seasonalityOf(values).label !== 'none'
    },
  },
]
