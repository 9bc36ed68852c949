/** Correlations: each pair of quantities with its correlation, as a sentence and on a line from −1 to 1. */

import type { Pair, Stats } from '../../../query/shapes/stats.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { addressOf } from '../../client/address.ts'
import { Folded } from '../../parts/folded.tsx'
import { decimalText } from '../../text/numbers.ts'
import { nameWithin, type Quantities } from '../../text/quantities.ts'
import { t, tp } from '../../words/words.ts'
import { seasonalityOf } from './answers.ts'
import { dayPairsSentence, noLinkSentence, pairSentence, relatedPairs, shownPairs } from './pair-sentences.ts'
import type { ShownMetric } from './shown-metrics.ts'

export interface PairsProps {
  readonly stats: Stats
  readonly metrics: readonly ShownMetric[]
  readonly quantities: Quantities
}

export function Pairs({ stats, metrics, quantities }: PairsProps) {
  const pairs = shownPairs(stats.correlations.pairs)
  const { strongest, ofDay } = relatedPairs(stats.correlations.pairs)
  const ofDaySentence = dayPairsSentence(ofDay, quantities)
  const gauges = metrics.filter(({ name }) => (seasonalityOf(stats, name)?.status ?? 'no_data') !== 'no_data')
  // One alone makes no pair, nor do metrics of other kinds.
  if (gauges.length < 2 && (gauges.length === 1 || metrics.some(({ kind }) => kind !== 'gauge'))) return null
  if (pairs.length === 0) return null
  const sentences = [...strongest.slice(0, 1).map(pair => pairSentence(pair, quantities)), ofDaySentence ?? []].flat()
  return (
    <Folded id="pairs" title={t('Correlations')} summary={sentences[0] ?? noLinkSentence(stats.correlations.pairs)}>
      {() => (
        <>
          <p class="lead">
            {tp('Correlations of hourly means ({link}).', {
              link: <a href={addressOf('/docs/statistics#correlations')}>{t('how they are computed')}</a>,
            })}
            {strongest.length > 0 ? ` ${t('The line is the 95\u202f% confidence interval.')}` : ''}
          </p>
          {strongest.length === 0 ? null : (
            <ul class="pairs">
              {strongest.map(pair => (
                <li key={`${pair.a} ${pair.b}`}>
                  <PairLine pair={pair} />
                  <span>{pairSentence(pair, quantities)}</span>
                </li>
              ))}
            </ul>
          )}
          {strongest.length > 0 && ofDaySentence !== undefined ? <p>{ofDaySentence}</p> : null}
          <TableTwin name={t('correlations')} tables={() => [pairTable(pairs, quantities)]} />
        </>
      )}
    </Folded>
  )
}

const width = 160
const x = (r: number) => 8 + ((Math.max(-1, Math.min(1, r)) + 1) / 2) * (width - 16)

function PairLine({ pair: { pearson, ci95 } }: { pair: Pair }) {
  if (pearson === null) return null
  return (
    <span class="pair-line">
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
    caption: t('Correlations of all pairs'),
    headName: t('Pair'),
    columns: [t('Correlation'), t('From'), t('To'), t('Without the day'), t('Hours'), t('Clear')].map(column => ({
      name: column,
      decimals: column === 'Hours' || column === 'Clear' ? 0 : 2,
    })),
    rows: pairs.map(({ a, b, pearson, ci95, r_deseasonalised, n, significant }) => ({
      key: `${a} ${b}`,
      head: `${quantities.of(a).name}, ${nameWithin(quantities.of(b))}`,
      cells: [
        pearson,
        ci95?.[0] ?? null,
        ci95?.[1] ?? null,
        r_deseasonalised,
        n,
        significant === null ? null : significant ? t('yes') : t('no'),
      ],
    })),
  }
}
