/** Tests of the percentiles of usual values: they are spread evenly. */

import { normalFor } from '../../analytics/normal/normal.ts'
import { autoregressive } from '../analytics/series.ts'
import type { Property } from './property.ts'

const days = 60
const hours = 24 * days

function percentileOf(seed: number): number {
  const series = autoregressive(1000 + hours, 0.9, seed).slice(1000)
  const cells = Array.from(series, (_, cell) => cell)
  const normal = normalFor({
    hourly: series,
    localHours: Uint8Array.from(cells, cell => cell % 24),
    localDays: Int32Array.from(cells, cell => Math.floor(cell / 24)),
    yearDays: Uint16Array.from(cells, cell => Math.floor(cell / 24)),
    at: { localHour: 12, localDay: days - 1, yearDay: days - 1 },
    value: series[24 * (days - 1) + 12] as number,
  })
  if (normal === null) throw new Error('there is no usual value')
  return normal.percentile
}

export const normalProperties: readonly Property[] = [
  {
    name: 'a usual value among the lowest or highest tenth of its hour',
    atLeast: 0.12,
    atMost: 0.28,
    run: seed => Math.abs(percentileOf(7919 * seed) - 50) > 40,
  },
]
