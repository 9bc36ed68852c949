/** Where an autocorrelation has its peak. */

import { autoregressive } from '../analytics/series.ts'
import { ask, every, hourMs, seriesOf } from '../query/stats/stats-of.ts'
import type { Property } from './property.ts'

const hours = 720
const startMs = Date.UTC(2025, 5, 1)

export const autocorrelationProperties: readonly Property[] = [
  {
    name: 'the peak at 24 h, of a daily cycle on a level that wanders for days',
    atLeast: 0.95,
    run: seed => {
      const level = autoregressive(hours, 0.995, seed)
      const series = seriesOf(every(hourMs, startMs, hours), {
        temperature: (_, hour) => 5 * Math.sin((2 * Math.PI * hour) / 24) + 0.42 * (level[hour] as number),
      })
      const { peak } = ask({ series }).autocorrelation.temperature
      return peak !== null && Math.abs(peak.lag_hours - 24) <= 1
    },
  },
]
