/** One metric of two devices: in words, as charts and as a table. */

import { useMemo } from 'preact/hooks'
import { ChartStack } from '../../charts/chart-stack.tsx'
import type { TimeWindow } from '../../charts/range.ts'
import { tableRows } from '../../charts/table-rows.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { builtInQuantities, nameWithin, nameWithUnit, shownDifference, shownValue } from '../../text/quantities.ts'
import type { Times } from '../../text/times.ts'
import type { Zone } from '../../text/zone.ts'
import { agreementSentences } from './agreement-sentences.ts'
import type { ComparedMetric as Metric } from './answers.ts'
import { metricPanels } from './comparison-panels.ts'

export interface ComparedMetricProps {
  readonly name: string
  readonly metric: Metric
  readonly a: string
  readonly b: string
  readonly window: TimeWindow
  readonly zone: Zone
  readonly times: Times
  readonly onWindow: (window: TimeWindow) => void
  readonly onReset: () => void
}

export function ComparedMetric({ name, metric, a, b, ...shown }: ComparedMetricProps) {
  const quantity = builtInQuantities.of(name)
  const panels = useMemo(() => metricPanels({ quantity, a, b }, metric), [metric, a, b])
  const { window, times } = shown
  const tables = () => {
    const series = [metric.a, metric.b, metric.diff].map((points, place) => ({
      timesMs: points.map(({ t }) => t),
      values: points.map(({ v }) => (place === 2 ? shownDifference(v, quantity) : shownValue(v, quantity))),
    }))
    const columns = [a, b, 'Difference'].map((column, place) => ({
      name: nameWithUnit({ ...quantity, name: place === 1 && a === b ? `${b} again` : column }),
      decimals: quantity.decimals,
    }))
    const rows = tableRows(series, window.fromMs, window.toMs)
    return [
      {
        caption: `${quantity.name} by hour, the newest first`,
        headName: 'From',
        columns,
        rows: rows.map(({ atMs, values }) => ({ key: atMs, head: times.exact(atMs), cells: values })),
      },
    ]
  }
  return (
    <section class="card" aria-labelledby={`compare-${name}`}>
      <h2 id={`compare-${name}`}>{quantity.name}</h2>
      <p class="told">{agreementSentences({ quantity, a, b }, metric.stats).join(' ')}</p>
      {metric.a.length + metric.b.length === 0 ? null : (
        <>
          <ChartStack
            label={`${quantity.name} of ${a} and ${b}`}
            panels={panels}
            nowMs={Number.MAX_SAFE_INTEGER}
            {...shown}
          />
          <TableTwin name={nameWithin(quantity)} tables={tables} />
        </>
      )}
    </section>
  )
}
