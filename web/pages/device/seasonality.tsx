/** What each metric does of itself, told and drawn. */

import type { BuiltInMetric } from '../../../live/fleet-shape.ts'
import { builtInNames, builtInQuantities } from '../../text/quantities.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import type { TwinTable } from '../../charts/table-rows.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { addressOf } from '../../client/address.ts'
import { AutocorrelationChart, CyclesChart, ProfileChart } from './seasonality-charts.tsx'
import { qualitySentence, seasonalitySentences } from './seasonality-sentences.ts'

/** Of fewer hours, nobody sees what a day is like. */
const hoursMin = 12

export function SeasonalitySection({ stats }: { stats: Stats }) {
  const shown = builtInNames.filter(metric => stats.seasonality[metric].status !== 'no_data')
  return (
    <section class="card" aria-labelledby="seasonality">
      <h2 id="seasonality">Seasonality</h2>
      <p class="lead">
        What {stats.window.truncated ? 'the readings so far' : `the last ${stats.window.days} days`} say of each metric
        (<a href={addressOf('/docs/statistics#seasonality')}>how it is computed</a>).
      </p>
      {shown.length === 0 ? (
        <p>There are no readings yet.</p>
      ) : (
        shown.map(metric => <MetricSeasonality key={metric} metric={metric} stats={stats} />)
      )}
    </section>
  )
}

function MetricSeasonality({ metric, stats }: { metric: BuiltInMetric; stats: Stats }) {
  const quantity = builtInQuantities.of(metric)
  const cycles = stats.seasonality[metric]
  const autocorrelation = stats.autocorrelation[metric]
  const sentences = [...seasonalitySentences(metric, cycles, autocorrelation), qualitySentence(stats.quality[metric])]
  const hasDay =
    cycles.daily_profile.filter(({ mean }) => mean !== null).length >= hoursMin && cycles.status !== 'constant'
  return (
    <div class="seasonality">
      <h3>{quantity.name}</h3>
      <p class="told">{sentences.join(' ')}</p>
      <div class="small-charts">
        {hasDay ? <ProfileChart quantity={quantity} profile={cycles.daily_profile} /> : null}
        <AutocorrelationChart autocorrelation={autocorrelation} />
        <CyclesChart cycles={cycles} />
      </div>
      {hasDay ? (
        <TableTwin
          name={`seasonality of ${quantity.name.toLowerCase()}`}
          tables={() => seasonalityTables(metric, stats)}
        />
      ) : null}
    </div>
  )
}

function seasonalityTables(metric: BuiltInMetric, stats: Stats): TwinTable[] {
  const { name, unit, decimals } = builtInQuantities.of(metric)
  const { daily_profile, peaks } = stats.seasonality[metric]
  const { lags_hours, acf, band95 } = stats.autocorrelation[metric]
  const value = (column: string) => ({ name: `${column}, ${unit}`, decimals })
  return [
    {
      caption: `${name}: a usual day`,
      headName: 'Hour',
      columns: [value('Mean'), value('One in ten below'), value('One in ten above')],
      rows: daily_profile.map(({ hour, mean, p10, p90 }) => ({
        key: hour,
        head: `${hour}:00`,
        cells: [mean, p10, p90],
      })),
    },
    {
      caption: `${name}: autocorrelation`,
      headName: 'After, hours',
      columns: ['Correlation', 'Chance, up to'].map(column => ({ name: column, decimals: 2 })),
      rows: (lags_hours ?? []).map((lag, place) => ({
        key: lag,
        head: String(Math.round(lag * 100) / 100),
        cells: [acf?.[place] ?? null, band95?.[place] ?? null],
      })),
    },
    {
      caption: `${name}: cycles`,
      headName: 'Every, hours',
      columns: [
        { name: 'Explains, share', decimals: 3 },
        value('Either way'),
        { name: 'Highest at', decimals: 0 },
        { name: 'Beyond noise', decimals: 0 },
      ],
      rows: peaks.map(({ period_hours, power, amplitude, phase_time, significant }) => ({
        key: period_hours,
        head: period_hours.toFixed(2),
        cells: [power, amplitude, phase_time, significant ? 'yes' : 'no'],
      })),
    },
  ]
}
