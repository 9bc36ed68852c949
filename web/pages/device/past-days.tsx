/** Today over the same hours of earlier days. */

import { type AirMetric, airMetrics, builtInQuantities } from '../../text/quantities.ts'
import type { PastDays as Past } from '../../../query/shapes/past.ts'
import { extentOf, linearScale, linePath, type Spot, spreadLabels } from '../../charts/paths.ts'
import { plot, SmallChart, TimeAxis } from '../../charts/small-charts.tsx'
import type { TwinTable } from '../../charts/table-rows.ts'
import { TableTwin } from '../../charts/table-twin.tsx'

const nameOfDay = {
  today: 'today',
  yesterday: 'yesterday',
  '7d': '7 days ago',
  '30d': '30 days ago',
  '365d': 'a year ago',
} as const satisfies Partial<Record<keyof Past, string>>
type PastKey = keyof typeof nameOfDay
const pastKeys = Object.keys(nameOfDay) as PastKey[]
const hourTicks = [0, 6, 12, 18, 24]
const labelsWidth = 76
const labelHeight = 14

export function PastDays({ past }: { past: Past }) {
  const shown = airMetrics.filter(metric =>
    pastKeys.some(key => past[key].hours.some(hour => hour[metric].mean !== null)),
  )
  return (
    <section class="card" aria-labelledby="past">
      <h2 id="past">Today and earlier days</h2>
      {shown.length === 0 ? <p>There are no readings of these days.</p> : null}
      <div class="small-charts">
        {shown.map(metric => (
          <DaysChart key={metric} metric={metric} past={past} />
        ))}
      </div>
      {shown.length === 0 ? null : (
        <TableTwin name="today and earlier days" tables={() => shown.map(metric => daysTable(metric, past))} />
      )}
    </section>
  )
}

function DaysChart({ metric, past }: { metric: AirMetric; past: Past }) {
  const { name, unit } = builtInQuantities.of(metric)
  const right = plot.right - labelsWidth
  const x = linearScale([0, 24], [plot.left, right])
  const extent = extentOf(pastKeys.flatMap(key => past[key].hours.map(hour => hour[metric].mean))) ?? [0, 1]
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
  const [low, high] = extent.map(value => value.toFixed(builtInQuantities.of(metric).decimals))
  return (
    <SmallChart
      title={`${name}, ${unit}`}
      label={`${name} by hour of ${lines.map(({ key }) => nameOfDay[key]).join(', ')}: from ${low} to ${high} ${unit}.`}
    >
      <TimeAxis ticks={hourTicks.map(hour => ({ x: x(hour), text: `${String(hour).padStart(2, '0')}:00` }))} />
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
  metric: AirMetric,
  x: (hour: number) => number,
  y: (value: number) => number,
): Spot[] {
  return past[key].hours.map(hour => {
    const { mean } = hour[metric]
    return [x(hour.hour + 0.5), mean === null ? null : y(mean)]
  })
}

/** An hour that a day has twice, as clocks are set back, shows its first mean. */
function daysTable(metric: AirMetric, past: Past): TwinTable {
  const { name, unit, decimals } = builtInQuantities.of(metric)
  const meanOf = (key: PastKey, hour: number) =>
    past[key].hours.find(entry => entry.hour === hour)?.[metric].mean ?? null
  return {
    caption: `${name} by hour, ${unit}`,
    headName: 'Hour',
    columns: pastKeys.map(key => ({ name: `${nameOfDay[key]} (${past[key].date})`, decimals })),
    rows: Array.from({ length: 24 }, (_, hour) => ({
      key: hour,
      head: `${hour}:00`,
      cells: pastKeys.map(key => meanOf(key, hour)),
    })),
  }
}
