/** Labels of noise and of a cycle. */

import { autoregressive } from '../analytics/series.ts'
import type { Property } from './property.ts'
import { dayAt, statsOf } from './worlds.ts'

const labelOf = (values: Float64Array): string | null => statsOf(values).seasonality.temperature.label

export const labelProperties: readonly Property[] = [
  ...[3, 4, 30].map(days => ({
    name: `a season in the label of ${days} days of white noise`,
    atMost: 0.05,
    run: (seed: number) => labelOf(autoregressive(24 * days, 0, 31 * seed)) !== 'none',
  })),
  {
    name: 'a season in the label of 30 days with a daily cycle as strong as white noise',
    atLeast: 0.95,
    run: seed => labelOf(autoregressive(720, 0, seed).map((value, hour) => value + 1.4 * dayAt(hour))) !== 'none',
  },
]
