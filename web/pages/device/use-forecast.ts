/** The forecast, read while the charts show the last 24 hours. */

import type { Forecast } from '../../../query/shapes/forecast.ts'
import { isPreset, type Range } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import type { Measured } from './measured.ts'

/** It is another one each hour. */
const everyTenMinutes = { everyMs: 600_000 }

/** `query`: which metrics; undefined while that is not known. What is ahead is no part that the page would lack. */
export function useForecast(of: Measured, query: string | undefined, range: Range): Forecast | undefined {
  const isShown = query !== undefined && isPreset(range) && range.preset === '24h'
  const state = useResource<Forecast>(
    isShown ? addressOf(`/api/${of.pathOf('forecast', query)}`) : undefined,
    everyTenMinutes,
  )
  return isShown ? lastValue(state) : undefined
}
