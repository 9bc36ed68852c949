/** The charts of a device's readings over a range, and the ways to change it. */

import { builtInQuantities } from '../../text/quantities.ts'
import { useMemo } from 'preact/hooks'
import { ChartStack } from '../../charts/chart-stack.tsx'
import { breakAtGaps, joinColumns } from '../../charts/line-data.ts'
import type { Panel } from '../../charts/panel.ts'
import type { Preset, TimeWindow } from '../../charts/range.ts'
import { RangeControls } from '../../charts/range-controls.tsx'
import { type TwinTable, tableRows } from '../../charts/table-rows.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import type { ShownRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import type { Times } from '../../text/times.ts'
import type { Zone } from '../../text/zone.ts'
import { type MetricSeries, type RangeSeries, readingsQuery } from './chart-series.ts'
import { type SuspectReadings, type Suspects, suspectMetrics } from './suspects.ts'

export interface ReadingsProps {
  readonly device: string
  readonly shown: ShownRange
  /** Undefined while the first answer is on its way. */
  readonly data: RangeSeries | undefined
  readonly suspects: Suspects
  readonly zone: Zone
  readonly times: Times
}

export const readingPresets: readonly Preset[] = ['24h', '7d', '30d', '365d']
const panelHeight = 132
const hourMs = 3_600_000

export function Readings({ device, shown, data, suspects, zone, times }: ReadingsProps) {
  const { window, nowMs, choose, zoomTo } = shown
  const panels = useMemo(
    () => (data?.series ?? []).map(series => panelOf(series, data as RangeSeries, suspects[series.metric])),
    [data, suspects],
  )
  const download = `/api/readings/${encodeURIComponent(device)}?${readingsQuery(window, undefined, 'csv')}`
  return (
    <section class="card" aria-labelledby="readings">
      <div class="section-head">
        <h2 id="readings">Readings</h2>
        <RangeControls presets={readingPresets} shown={shown} />
      </div>
      {data === undefined ? <div class="charts-place" /> : null}
      {data !== undefined && panels.length === 0 ? <p class="none-here">There are no readings in this range.</p> : null}
      {panels.length === 0 ? null : (
        <ChartStack
          {...{ panels, window, nowMs, zone, times }}
          label={`Readings of ${device}`}
          onWindow={zoomTo}
          onReset={() => choose('24h')}
        />
      )}
      {panels.every(({ marks }) => marks === undefined) ? null : (
        <p class="lead">
          Hollow points are suspect readings: out of range, a spike, a sudden step or a flat line.{' '}
          <a href={addressOf('/docs/statistics#quality')}>How they are found</a>
        </p>
      )}
      <div class="below">
        {data === undefined || panels.length === 0 ? null : (
          <TableTwin name="readings" tables={() => [readingsTable(data, suspects, window, times)]} />
        )}
        <a class="button quiet" href={addressOf(download)} download={`${device}.csv`}>
          Download as CSV
        </a>
        <a class="button quiet" href={addressOf(`/compare?a=${encodeURIComponent(device)}`)}>
          Compare
        </a>
      </div>
    </section>
  )
}

function panelOf(series: MetricSeries, { gapMs, stepMs }: RangeSeries, suspects: SuspectReadings | undefined): Panel {
  const { metric, timesMs, values, extremes } = series
  const { name, unit, decimals } = builtInQuantities.of(metric)
  const bounds = extremes === undefined ? [] : [extremes.highs, extremes.lows]
  const edge = { colour: '--accent-wash', width: 0 }
  const whole = breakAtGaps(timesMs, [...bounds, values], gapMs)
  const marked = suspects && { timesMs: [...suspects.timesMs], lines: [[...suspects.values]] }
  const hollow = { colour: '--warn', width: 0, isHollow: true }
  return {
    key: metric,
    title: name,
    unit,
    decimals,
    height: panelHeight,
    content: {
      columns: marked === undefined ? whole : joinColumns([whole, marked]),
      lines: [
        ...bounds.map(() => edge),
        { colour: '--accent', width: 1.25 },
        ...(marked === undefined ? [] : [hollow]),
      ],
      band: extremes === undefined ? undefined : [0, 1],
      decimals,
    },
    readouts: [{ timesMs, values }],
    marks: suspects && { label: 'suspect', ...suspects },
    reachMs: Math.max(gapMs ?? hourMs, stepMs ?? 0),
  }
}

function readingsTable(
  { series, stepMs }: RangeSeries,
  suspects: Suspects,
  { fromMs, toMs }: TimeWindow,
  times: Times,
): TwinTable {
  const metricsAt = suspectMetrics(suspects, stepMs)
  const namesAt = (atMs: number) => metricsAt.get(atMs)?.map(metric => builtInQuantities.of(metric).name) ?? null
  const columns = series.flatMap(({ metric, timesMs, values, extremes }) => {
    const { name, unit, decimals } = builtInQuantities.of(metric)
    const column = (what: string, of: readonly number[]) => ({
      name: `${name}${what}, ${unit}`,
      decimals,
      timesMs,
      values: of,
    })
    return extremes === undefined
      ? [column('', values)]
      : [column(': mean', values), column(': min', extremes.lows), column(': max', extremes.highs)]
  })
  return {
    caption: stepMs === undefined ? 'Readings, the newest first' : 'Means, minima and maxima, the newest first',
    headName: stepMs === undefined ? 'Time' : 'From',
    columns: metricsAt.size === 0 ? columns : [...columns, { name: 'Suspect', decimals: 0 }],
    rows: tableRows(columns, fromMs, toMs).map(({ atMs, values }) => ({
      key: atMs,
      head: times.exact(atMs),
      cells: [...values, namesAt(atMs)?.join(', ') ?? null],
    })),
  }
}
