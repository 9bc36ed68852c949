/** Figures of counters, rates, directions and states, in sentences and tables. */

import type { PastDays } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { addressOf } from '../../client/address.ts'
import { nameWithin, type Quantities, type Quantity } from '../../text/quantities.ts'
import type { AnalysesWords } from './analyses-range.ts'
import { windowFiguresOf } from './answers.ts'
import { dayAmountSentences, kindSentences } from './kind-sentences.ts'
import { kindTables } from './kind-tables.ts'
import { Rose } from './rose.tsx'
import type { ShownMetric } from './shown-metrics.ts'

export interface KindsSectionProps {
  readonly stats: Stats
  readonly past: PastDays | undefined
  readonly metrics: readonly ShownMetric[]
  readonly quantities: Quantities
  readonly words: AnalysesWords
}

/** Renders nothing for a device that has gauges only. */
export function KindsSection({ stats, past, metrics, quantities, words }: KindsSectionProps) {
  const shown = metrics.filter(({ name }) => windowFiguresOf(stats, name) !== undefined)
  if (shown.length === 0) return null
  return (
    <section class="card" aria-labelledby="kinds">
      <h2 id="kinds">Amounts, directions and states</h2>
      <p class="lead">
        Totals of counters and rates, mean directions, and durations of states (
        <a href={addressOf('/docs/statistics#custom-metrics')}>how it is computed</a>).
      </p>
      {shown.map(({ name }) => (
        <MetricFigures key={name} {...{ name, stats, past, words }} quantity={quantities.of(name)} />
      ))}
    </section>
  )
}

interface MetricFiguresProps extends Pick<KindsSectionProps, 'stats' | 'past' | 'words'> {
  name: string
  quantity: Quantity
}

function MetricFigures({ name, quantity, stats, past, words }: MetricFiguresProps) {
  const figures = windowFiguresOf(stats, name)
  if (figures === undefined) return null
  const isAmount = figures.kind === 'counter' || figures.kind === 'rate'
  const { during } = words
  const sentences = [
    ...(isAmount && past !== undefined ? dayAmountSentences(past, name, quantity) : []),
    ...kindSentences(figures, quantity, { during, isTruncated: stats.window.truncated }),
  ]
  const tables = kindTables(figures, quantity)
  return (
    <div class="seasonality">
      <h3>{quantity.name}</h3>
      <p class="summary-text">{sentences.join(' ')}</p>
      {figures.kind === 'direction' ? (
        <div class="small-charts">
          <Rose quantity={quantity} rose={figures.rose} />
        </div>
      ) : null}
      {tables.every(({ rows }) => rows.length === 0) ? null : (
        <TableTwin name={`figures of ${nameWithin(quantity)}`} tables={() => tables} />
      )}
    </div>
  )
}
