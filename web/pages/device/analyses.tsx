/**
 * Analyses of a range: figures by profile and kind, anomalies, seasonality and correlations. The range can be chosen.
 */

import { useId } from 'preact/hooks'
import type { PastDays } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { setArguments, urlArguments } from '../../client/address.ts'
import type { Quantities } from '../../text/quantities.ts'
import {
  type AnalysesRange,
  analysesArgument,
  analysesWords,
  nameOfAnalysesRange,
  readAnalysesRange,
} from './analyses-range.ts'
import { Anomalies } from './anomalies.tsx'
import { DomainSection } from './domain-section.tsx'
import { KindsSection } from './kinds-section.tsx'
import type { Measured } from './measured.ts'
import { Pairs } from './pairs.tsx'
import { SeasonalitySection } from './seasonality.tsx'
import type { ShownMetric } from './shown-metrics.ts'

export interface AnalysesProps {
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
        Analyses of
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
