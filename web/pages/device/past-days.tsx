/** Today beside the same hours of earlier days. */

import type { PastDays as Past } from '../../../query/shapes/past.ts'
import { metricStyle } from '../../charts/colours.ts'
import { extentOf, linearScale, linePath, type Spot, spreadLabels } from '../../charts/paths.ts'
import { plot, SmallChart, TimeAxis } from '../../charts/small-charts.tsx'
import { TableTwin } from '../../charts/table-twin.tsx'
import { nameWithUnit, numberText, type Quantities, withUnit } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'
import { pastMeanOf } from './answers.ts'
import { AmountsOfDays, DirectionsOfDays, StatesOfDays } from './past-kinds.tsx'
import { type DaysChartProps, hasPast, hourTicks, nameOfDay, type PastKey, pastKeys, pastTable } from './past-tables.ts'
import type { ShownMetric } from './shown-metrics.ts'

const labelsWidth = 76
const labelHeight = 14

export interface PastDaysProps {
  readonly past: Past
  readonly metrics: readonly ShownMetric[]
  readonly quantities: Quantities
}

export function PastDays({ past, metrics, quantities }: PastDaysProps) {
  const shown = metrics.filter(metric => hasPast(past, metric))
  return (
    <section class="card" aria-labelledby="past">
      <h2 id="past">{t('Today and earlier days')}</h2>
      {shown.length === 0 ? <p>{t('There are no readings of these days.')}</p> : null}
      <div class="small-charts">
        {shown.map(({ name, kind }) => {
          const Chart = chartOfKind[kind]
          return (
            <div key={name} style={kind === 'state' ? {} : metricStyle(name)}>
              <Chart metric={name} quantity={quantities.of(name)} past={past} />
            </div>
          )
        })}
      </div>
      {shown.length === 0 ? null : (
        <TableTwin
          name={t('today and earlier days')}
          tables={() => shown.map(metric => pastTable(past, metric, quantities.of(metric.name)))}
        />
      )}
    </section>
  )
}

const chartOfKind = {
  gauge: DaysChart,
  counter: AmountsOfDays,
  rate: AmountsOfDays,
  direction: DirectionsOfDays,
  state: StatesOfDays,
} as const

function DaysChart({ metric, quantity, past }: DaysChartProps) {
  const right = plot.right - labelsWidth
  const x = linearScale([0, 24], [plot.left, right])
  const extent = extentOf(pastKeys.flatMap(key => past[key].hours.map(hour => pastMeanOf(hour, metric)))) ?? [0, 1]
  const y = linearScale(extent, [plot.bottom - 6, plot.top])
  const lines = pastKeys
    .map(key => ({ key, spots: spotsOf(past, key, metric, x, y) }))
    .filter(({ spots }) => spots.some(([, value]) => value !== null))
  const ends = lines.map(({ spots }) => spots.findLast(([, value]) => value !== null) as readonly [number, number])
  const heights = spreadLabels(
    ends.map(([, height]) => height),
    labelHeight,
    plot.top,
    plot.bottom,
  )
  const [low = '', high = ''] = extent.map(value => numberText(value, quantity))
  const days = lines.map(({ key }) => nameOfDay[key]).join(', ')
  return (
    <SmallChart
      title={nameWithUnit(quantity)}
      label={t('{name} by hour of {days}: from {low} to {high}.', {
        name: quantity.name,
        days,
        low,
        high: withUnit(high, quantity),
      })}
    >
      <TimeAxis ticks={hourTicks(x)} />
      {lines.toReversed().map(({ key, spots }) => (
        <path key={key} class={`line past-${key}`} d={linePath(spots)} />
      ))}
      {lines.map(({ key }, place) => (
        <g key={key} class={`past-label past-${key}`}>
          <path
            class="leader"
            d={`M${(ends[place]?.[0] ?? 0) + 3} ${ends[place]?.[1]}L${right + 4} ${heights[place]}`}
          />
          <text x={right + 8} y={(heights[place] ?? 0) + 4}>
            {nameOfDay[key]}
          </text>
        </g>
      ))}
    </SmallChart>
  )
}

/** Each mean in the middle of its hour. */
function spotsOf(
  past: Past,
  key: PastKey,
  metric: string,
  x: (hour: number) => number,
  y: (value: number) => number,
): Spot[] {
  return past[key].hours.map(hour => {
    const mean = pastMeanOf(hour, metric)
    return [x(hour.hour + 0.5), mean === null ? null : y(mean)]
  })
}
