/** Correlations: each pair of quantities with its correlation, as a sentence and on a line from −1 to 1. */

import type { Pair } from '../../../query/shapes/correlation.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { addressOf } from '../../client/address.ts'
import { countOf, decimalText } from '../../text/numbers.ts'
import { nameWithin, type Quantities } from '../../text/quantities.ts'
import { seasonalityOf } from './answers.ts'
import { pairSentence, shownPairs } from './pair-sentences.ts'
import type { ShownMetric } from './shown-metrics.ts'

/** The strongest, which are all of the five and the dew point: of 17 quantities there are 136. The table has all of them. */
const pairsMax = 15

export interface PairsProps {
  readonly stats: Stats
  readonly metrics: readonly ShownMetric[]
  readonly quantities: Quantities
}

export function Pairs({ stats, metrics, quantities }: PairsProps) {
  const pairs = shownPairs(stats.correlations.pairs)
  const rest = pairs.length - pairsMax
  const gauges = metrics.filter(({ name }) => (seasonalityOf(stats, name)?.status ?? 'no_data') !== 'no_data')
  // One alone makes no pair, nor do metrics of other kinds.
  if (gauges.length < 2 && (gauges.length === 1 || metrics.some(({ kind }) => kind !== 'gauge'))) return null
  return (
    <section class="card" aria-labelledby="pairs">
      <h2 id="pairs">Correlations</h2>
      <p class="lead">
        The correlation of hourly means, with the interval that holds the true one in 95 of 100 cases (
        <a href={addressOf('/docs/statistics#correlations')}>how it is computed</a>).
      </p>
      {pairs.length === 0 ? <p>No two quantities have ten hours of varying values in common yet.</p> : null}
      <ul class="pairs">
        {pairs.slice(0, pairsMax).map(pair => (
          <li key={`${pair.a} ${pair.b}`}>
            <PairLine pair={pair} />
            <span>{pairSentence(pair, quantities)}</span>
          </li>
        ))}
      </ul>
      {rest > 0 ? <p class="lead">The table has {countOf(rest, 'weaker pair')} more.</p> : null}
      {pairs.length === 0 ? null : <TableTwin name="correlations" tables={() => [pairTable(pairs, quantities)]} />}
    </section>
  )
}

const width = 160
const x = (r: number) => 8 + ((Math.max(-1, Math.min(1, r)) + 1) / 2) * (width - 16)

function PairLine({ pair: { pearson, ci95, significant } }: { pair: Pair }) {
  if (pearson === null) return null
  return (
    <span class={`pair-line ${significant ? '' : 'chance'}`}>
      <svg viewBox={`0 0 ${width} 24`} width={width} height="24" aria-hidden="true">
        <path class="scale" d={`M${x(-1)} 12H${x(1)}M${x(-1)} 9v6M${x(0)} 7v10M${x(1)} 9v6`} />
        {ci95 === null ? null : <path class="interval" d={`M${x(ci95[0])} 12H${x(ci95[1])}`} />}
        <circle cx={x(pearson)} cy="12" r="4.5" />
      </svg>
      <b>{decimalText(pearson, 2)}</b>
    </span>
  )
}

function pairTable(pairs: readonly Pair[], quantities: Quantities): TwinTable {
  return {
    caption: 'Correlations',
    headName: 'Pair',
    columns: ['Correlation', 'From', 'To', 'Without the day', 'Hours'].map(column => ({
      name: column,
      decimals: column === 'Hours' ? 0 : 2,
    })),
    rows: pairs.map(({ a, b, pearson, ci95, r_deseasonalised, n }) => ({
      key: `${a} ${b}`,
      head: `${quantities.of(a).name}, ${nameWithin(quantities.of(b))}`,
      cells: [pearson, ci95?.[0] ?? null, ci95?.[1] ?? null, r_deseasonalised, n],
    })),
  }
}
