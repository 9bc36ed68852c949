/**
 * Analyses of a range: figures by profile and kind, anomalies, seasonality and correlations. The range can be chosen.
 */

import { useId, useRef } from 'preact/hooks'
import type { PastDays } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { isPreset } from '../../charts/range.ts'
import { useRange } from '../../charts/use-range.ts'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { useResource, useRested } from '../../client/use-resource.ts'
import type { Quantities } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'
import {
  type AnalysesRange,
  analysesArgument,
  analysesQuery,
  analysesWords,
  nameOfAnalysesRange,
  readAnalysesRange,
} from './analyses-range.ts'
import type { Measured } from './answers.ts'
import { DomainSection, KindsSection } from './figures.tsx'
import { Anomalies } from './findings.tsx'
import { Pairs } from './pairs.tsx'
import { readingPresets } from './readings.tsx'
import { SeasonalitySection } from './seasonality.tsx'
import type { ShownMetric } from './shown-metrics.ts'

interface AnalysesProps {
  readonly of: Measured
  /** The range of `stats`. */
  readonly range: AnalysesRange
  /** Arguments for analyses that are read once their section is opened. */
  readonly query: readonly string[]
  /** The metrics, of a query string as well. */
  readonly named: readonly string[]
  readonly stats: Stats
  readonly past: PastDays | undefined
  readonly metrics: readonly ShownMetric[]
  readonly quantities: Quantities
}

export function Analyses({ of, range, query, named, stats, past, metrics, quantities }: AnalysesProps) {
  const words = analysesWords(range, stats.window)
  const name = nameOfAnalysesRange[range]
  return (
    <>
      <RangeField range={readAnalysesRange(urlArguments.value)} />
      <DomainSection {...{ of, stats, quantities }} query={query.join('&')} words={name} />
      <Anomalies {...{ of, quantities }} query={[...query, ...named].join('&')} words={name} />
      <KindsSection {...{ stats, past, metrics, quantities, words }} />
      <SeasonalitySection {...{ stats, metrics, quantities, words }} />
      <Pairs {...{ stats, metrics, quantities }} />
    </>
  )
}

function RangeField({ range }: { range: AnalysesRange }) {
  const id = useId()
  return (
    <div class="choice">
      <label class="choice-field" for={id}>
        {t('Analyses of')}
        <select
          id={id}
          value={range}
          onChange={({ currentTarget }) =>
            setArguments({ analyses: analysesArgument(currentTarget.value as AnalysesRange) })
          }
        >
          {Object.entries(nameOfAnalysesRange).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

interface AskedRange {
  readonly range: AnalysesRange
  /** Arguments for analyses; empty for their default range. */
  readonly query: readonly string[]
}

interface Analysed {
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
