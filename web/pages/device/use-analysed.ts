/** The statistics of the time that the analyses of the page are of. */

import { useRef } from 'preact/hooks'
import type { Stats } from '../../../query/shapes/stats.ts'
import { isPreset } from '../../charts/range.ts'
import { useRange } from '../../charts/use-range.ts'
import { addressOf, urlArguments } from '../../client/address.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import { type AnalysesRange, analysesQuery, readAnalysesRange } from './analyses-range.ts'
import type { Measured } from './measured.ts'
import { readingPresets } from './readings.tsx'

interface AskedRange {
  readonly range: AnalysesRange
  /** Arguments for analyses; empty for their default range. */
  readonly query: readonly string[]
}

export interface Analysed {
  /** States of answers that only the analyses need. */
  readonly states: readonly ResourceState<unknown>[]
  /** Undefined while there has been no answer. */
  readonly analysed: (AskedRange & { readonly stats: Stats }) | undefined
}

/** `named`: the metrics, for a query string; undefined while nothing is asked. `usual`: the statistics of the page. */
export function useAnalysed(
  of: Measured,
  named: readonly string[] | undefined,
  usual: Stats | undefined,
  everyMs: number,
): Analysed {
  const asked = useAskedRange()
  const isUsual = asked.query.length === 0
  const path =
    isUsual || named === undefined ? undefined : of.pathOf('stats_data', [...asked.query, ...named].join('&'))
  const state = useResource<Stats>(path && addressOf(`/api/${path}`), { everyMs })
  const stats = isUsual ? usual : lastValue(state)
  // While another range loads, the last analyses stay with their range.
  const last = useRef<{ readonly name: string; readonly shown: Analysed['analysed'] }>()
  if (stats !== undefined) last.current = { name: of.name, shown: { ...asked, stats } }
  const analysed = last.current?.name === of.name ? last.current.shown : undefined
  return { states: isUsual ? [] : [state], analysed }
}

/** Analyses wait until the charts stop moving. */
function useAskedRange(): AskedRange {
  const { range: ofCharts, window } = useRange(readingPresets)
  const chosen = readAnalysesRange(urlArguments.value)
  const key = [chosen, ...analysesQuery(chosen, window, isPreset(ofCharts))].join('&')
  const [range, ...query] = (useRested(key) ?? key).split('&')
  return { range: range as AnalysesRange, query }
}
