/** One metric of two devices, hour by hour: in words, as charts and as a table. */

import { useMemo } from 'preact/hooks'
import { ChartStack } from '../../charts/chart-stack.tsx'
import type { TimeWindow } from '../../charts/range.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { nameWithin, type Quantity } from '../../text/quantities.ts'
import type { Zone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { agreementSentences, directionSentences } from './agreement-sentences.ts'
import { comparedTable } from './compared-table.ts'
import { type ComparedHours, metricPanels } from './comparison-panels.ts'

export interface ComparedMetricProps {
  readonly name: string
  readonly quantity: Quantity
  readonly metric: ComparedHours
  readonly a: string
  readonly b: string
  readonly window: TimeWindow
  readonly zone: Zone
  readonly times: Times
  readonly onWindow: (window: TimeWindow) => void
  readonly onReset: () => void
}

/** The figure of an hour by kind. */
const figureOfKind: Partial<Record<Quantity['kind'], string>> = { counter: 'increase', rate: 'sum' }

export function ComparedMetric({ name, quantity, metric, a, b, ...shown }: ComparedMetricProps) {
  const figure = figureOfKind[quantity.kind]
  const title = figure === undefined ? quantity.name : `${quantity.name}: ${figure} by hour`
  const panels = useMemo(() => metricPanels({ quantity, a, b }, metric), [metric, a, b])
  const tables = () => [comparedTable({ quantity, a, b }, metric, shown)]
  return (
    <section class="card" aria-labelledby={`compare-${name}`}>
      <h2 id={`compare-${name}`}>{title}</h2>
      <p class="summary-text">{sentencesOf({ quantity, a, b }, metric).join(' ')}</p>
      <ChartStack
        label={`${quantity.name} of ${a} and ${b}`}
        panels={panels}
        nowMs={Number.MAX_SAFE_INTEGER}
        {...shown}
      />
      <TableTwin name={nameWithin(quantity)} tables={tables} />
    </section>
  )
}

function sentencesOf(compared: Pick<ComparedMetricProps, 'quantity' | 'a' | 'b'>, metric: ComparedHours): string[] {
  return 'pearson' in metric.stats
    ? agreementSentences(compared, metric.stats)
    : directionSentences(compared, metric.stats)
}
