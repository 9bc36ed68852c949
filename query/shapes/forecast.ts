/** Response of `forecast/<device>`. */

import { z } from 'zod'
import { byGauge } from './kinds.ts'
import { Count, LocalMinute, pointTime, Share, verdict } from './parts.ts'

const ForecastHour = z
  .strictObject({
    ...pointTime,
    median: z.number(),
    low80: z.number(),
    high80: z.number(),
    low95: z.number(),
    high95: z.number(),
    d: LocalMinute,
  })
  .meta({ id: 'ForecastHour' })

const BackTest = z
  .strictObject({
    origins: Count,
    mase: z.number().nonnegative().nullable(),
    mase_ratio: z.number().nonnegative().nullable(),
    coverage80: Share.nullable(),
    coverage95: Share.nullable(),
  })
  .meta({ id: 'ForecastBackTest' })

const MetricForecast = z
  .strictObject({ ...verdict, hours: z.array(ForecastHour), back_test: BackTest.nullable() })
  .meta({ id: 'MetricForecast' })

export const Forecast = byGauge(MetricForecast)
export type Forecast = z.infer<typeof Forecast>
