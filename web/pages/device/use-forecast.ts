/** The forecast and the usual band before it, read while the charts show the last 24 hours. */

import type { Forecast } from '../../../query/shapes/forecast.ts'
import type { UnusualValues } from '../../../query/shapes/unusual.ts'
import { isPreset, type Range } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import type { Expected } from './forecast.ts'
import type { Measured } from './measured.ts'

/** It is another one each hour. */
const everyTenMinutes = { everyMs: 600_000 }

/** `query`: which metrics; undefined while that is not known. Neither is a part that the page would lack. */
export function useForecast(of: Measured, query: string | undefined, range: Range): Expected {
  const isShown = query !== undefined && isPreset(range) && range.preset === '24h'
  const read = <Answer>(analysis: string) => {
    const path = isShown ? addressOf(`/api/${of.pathOf(analysis, query)}`) : undefined
    const state = useResource<Answer>(path, everyTenMinutes)
    return isShown ? lastValue(state) : undefined
  }
  return { forecast: read<Forecast>('forecast'), unusual: read<UnusualValues>('unusual') }
}
