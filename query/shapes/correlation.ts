/** Correlations of a device's series with each other and with themselves: parts of `stats_data`. */

import { z } from 'zod'
import { pairReasons } from '../../analytics/reasons.ts'
import { quantities } from '../answers/units.ts'
import { Coefficient, Count, Share } from './parts.ts'
import { verdict } from './verdict.ts'

/** One of the five metrics, the dew point, or a custom gauge. */
const Quantity = z.string().meta({ examples: [...quantities] })

const Pair = z.strictObject({
  a: Quantity,
  b: Quantity,
  n: Count,
  n_eff: z.number().nullable(),
  pearson: Coefficient.nullable(),
  p_value: Share.nullable(),
  ci95: z.tuple([Coefficient, Coefficient]).readonly().nullable(),
  spearman: Coefficient.nullable(),
  spearman_p_value: Share.nullable(),
  /** Null where too few hours are independent. */
  significant: z.boolean().nullable(),
  r_deseasonalised: Coefficient.nullable(),
  lag_seconds: z.number().nullable(),
  lag_r: Coefficient.nullable(),
  reason: z.enum(pairReasons).nullable(),
})
export type Pair = z.infer<typeof Pair>

export const Correlations = z.strictObject({
  grid_seconds: z.number().positive().nullable(),
  n: Count,
  pairs: z.array(Pair),
})

export const Autocorrelation = z
  .strictObject({
    ...verdict,
    n: Count,
    n_observed: Count,
    max_lag_hours: z.number().nullable(),
    /** One entry for each lag, in this list and the next four. */
    lags_hours: z.array(z.number()).nullable(),
    acf: z.array(Coefficient.nullable()).nullable(),
    band95: z.array(z.number().nullable()).nullable(),
    band95_white: z.array(z.number().nullable()).nullable(),
    n_pairs: z.array(Count.nullable()).nullable(),
    decorrelation_hours: z.number().nullable(),
    peak: z.strictObject({ lag_hours: z.number(), r: Coefficient }).nullable(),
  })
  .meta({ id: 'Autocorrelation' })
export type Autocorrelation = z.infer<typeof Autocorrelation>
