/** Seasonality of each metric in sentences and charts. */

import type { Autocorrelation, Seasonality, Stats } from '../../../query/shapes/stats.ts'
import { metricStyle } from '../../charts/colours.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { addressOf } from '../../client/address.ts'
import { Folded } from '../../parts/folded.tsx'
import { decimalText } from '../../text/numbers.ts'
import { capitalised } from '../../text/phrases.ts'
import {
  nameWithin,
  nameWithUnit,
  type Quantities,
  type Quantity,
  shownDifference,
  shownValue,
} from '../../text/quantities.ts'
import { t, tp } from '../../words/words.ts'
import type { AnalysesWords } from './analyses-range.ts'
import { autocorrelationOf, qualityOf, seasonalityOf } from './answers.ts'
import { AutocorrelationChart, CyclesChart, ProfileChart } from './seasonality-charts.tsx'
import { qualitySentence, seasonalitySentences, seasonalitySummary } from './seasonality-sentences.ts'
import type { ShownMetric } from './shown-metrics.ts'

/** Fewer hours do not show the course of a day. */
const hoursMin = 12

export interface SeasonalityProps {
  readonly stats: Stats
  readonly metrics: readonly ShownMetric[]
  readonly quantities: Quantities
  readonly words: AnalysesWords
}

export function SeasonalitySection({ stats, metrics, quantities, words }: SeasonalityProps) {
  const shown = metrics.filter(({ name }) => (seasonalityOf(stats, name)?.status ?? 'no_data') !== 'no_data')
  // A device may have none, as a contact of a door.
  if (shown.length === 0 && metrics.some(({ kind }) => kind !== 'gauge')) return null
  const names = shown.map(({ name }) => name)
  const summary = seasonalitySummary(stats, names, quantities, words)
  const isGood = names.every(name => (qualityOf(stats, name)?.suspect ?? 0) === 0)
  return (
    <Folded id="seasonality" title={t('Seasonality')} summary={summary}>
      {() => (
        <>
          <p class="lead">
            {tp('Cycles and trend of each metric in {of} ({link}).', {
              of: words.of,
              link: <a href={addressOf('/docs/statistics#seasonality')}>{t('how they are computed')}</a>,
            })}
            {isGood ? ` ${t('No reading looks wrong.')}` : ''}
          </p>
          {shown.map(({ name }) => (
            <MetricSeasonality key={name} metric={name} quantity={quantities.of(name)} {...{ stats, summary, words }} />
          ))}
        </>
      )}
    </Folded>
  )
}

interface MetricSeasonalityProps {
  readonly metric: string
  readonly quantity: Quantity
  readonly stats: Stats
  /** The summary's sentences are not repeated for each metric. */
  readonly summary: string
  readonly words: AnalysesWords
}

function MetricSeasonality({ metric, quantity, stats, summary, words }: MetricSeasonalityProps) {
  const [cycles, autocorrelation] = [seasonalityOf(stats, metric), autocorrelationOf(stats, metric)]
  const quality = qualityOf(stats, metric)
  if (cycles === undefined || autocorrelation === undefined) return null
  const sentences = [
    ...seasonalitySentences(quantity, cycles, autocorrelation),
    quality === undefined ? '' : qualitySentence(quality),
  ].filter(sentence => !summary.includes(sentence))
  const hasDay =
    cycles.daily_profile.filter(({ mean }) => mean !== null).length >= hoursMin && cycles.status !== 'constant'
  const isOfFewDays = cycles.reason === 'short_span'
  if (sentences.length === 0 && !hasDay) return null
  return (
    <div class="seasonality">
      <h3>{quantity.name}</h3>
      {sentences.length === 0 ? null : <p class="summary-text">{sentences.join(' ')}</p>}
      <div class="small-charts" style={metricStyle(metric)}>
        {hasDay ? (
          <ProfileChart
            quantity={quantity}
            profile={cycles.daily_profile}
            name={isOfFewDays ? capitalised(words.of) : t('A usual day')}
          />
        ) : null}
        {isOfFewDays ? null : <AutocorrelationChart autocorrelation={autocorrelation} />}
        <CyclesChart cycles={cycles} />
      </div>
      {hasDay ? (
        <TableTwin
          name={t('seasonality of {name}', { name: nameWithin(quantity) })}
          tables={() => seasonalityTables(quantity, cycles, autocorrelation)}
        />
      ) : null}
    </div>
  )
}

function seasonalityTables(
  quantity: Quantity,
  { daily_profile, peaks }: Seasonality,
  { lags_hours, acf, band95 }: Autocorrelation,
): TwinTable[] {
  const { name, decimals } = quantity
  const value = (column: string) => ({ name: nameWithUnit({ ...quantity, name: column }), decimals })
  const shown = (stored: number | null) => (stored === null ? null : shownValue(stored, quantity))
  return [
    {
      caption: t('{name}: a usual day', { name }),
      headName: t('Hour'),
      columns: [value(t('Mean')), value(t('One in ten below')), value(t('One in ten above'))],
      rows: daily_profile.map(({ hour, mean, p10, p90 }) => ({
        key: hour,
        head: `${hour}:00`,
        cells: [mean, p10, p90].map(shown),
      })),
    },
    {
      caption: t('{name}: autocorrelation', { name }),
      headName: t('After, hours'),
      columns: [t('Correlation'), t('Random, up to')].map(column => ({ name: column, decimals: 2 })),
      rows: (lags_hours ?? []).map((lag, place) => ({
        key: lag,
        head: String(Math.round(lag * 100) / 100),
        cells: [acf?.[place] ?? null, band95?.[place] ?? null],
      })),
    },
    {
      caption: t('{name}: cycles', { name }),
      headName: t('Every, hours'),
      columns: [
        { name: t('Explains, share'), decimals: 3 },
        value(t('Either way')),
        { name: t('Highest at'), decimals: 0 },
        { name: t('Beyond noise'), decimals: 0 },
      ],
      rows: peaks.map(({ period_hours, power, amplitude, phase_time, significant }) => ({
        key: period_hours,
        head: decimalText(period_hours, 2),
        cells: [power, shownDifference(amplitude, quantity), phase_time, significant ? t('yes') : t('no')],
      })),
    },
  ]
}
