/** Which cycles are found in noise. */

import { detrend } from '../../analytics/decomposition/detrend.ts'
import { createPeakSearch } from '../../analytics/spectrum/seasonal-peaks.ts'
import { autoregressive, withLoss } from '../analytics/series.ts'
import type { Property } from './property.ts'

const kinds = [
  { noise: 'white noise', phi: 0 },
  { noise: 'AR(1) 0.9', phi: 0.9 },
  { noise: 'a random walk', phi: 1 },
]

export const seasonalPeakProperties: readonly Property[] = kinds.flatMap(({ noise, phi }) =>
  [0, 0.4].map(loss => ({
    name: `a significant cycle in 30 days of ${noise}${loss === 0 ? '' : ' with 40 % of the hours lost'}`,
    atMost: 0.05,
    run: (seed: number) => {
      const values = withLoss(autoregressive(720, phi, 7919 * seed), loss, seed)
      return createPeakSearch(720)(detrend(values).residual).peaks.some(({ significant }) => significant)
    },
  })),
)
