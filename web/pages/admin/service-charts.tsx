/** The service's own metrics over time: charts and their table. Loaded when they are first shown, as uPlot comes along. */

import { useMemo } from 'preact/hooks'
import type { StatusHistory } from '../../../api/admin/answers.ts'
import { ChartStack } from '../../charts/chart-stack.tsx'
import { TableTwin } from '../../charts/table-twin.tsx'
import type { ShownRange } from '../../charts/use-range.ts'
import { pageTimes } from '../../text/preferences.ts'
import { createZone } from '../../text/zone.ts'
import { t } from '../../words/words.ts'
import { historyPanels, historyTable } from './service-history.ts'

export interface ServiceChartsProps {
  readonly history: StatusHistory
  readonly shown: ShownRange
}

export function ServiceCharts({ history, shown }: ServiceChartsProps) {
  const { window, nowMs, choose, zoomTo } = shown
  const times = pageTimes()
  const zone = createZone(times.zone)
  const panels = useMemo(() => historyPanels(history), [history])
  return (
    <>
      <ChartStack
        {...{ panels, window, nowMs, zone, times }}
        label={t('Service metrics')}
        onWindow={zoomTo}
        onReset={() => choose('24h')}
      />
      <TableTwin name={t('service metrics')} tables={() => [historyTable(panels, window)]} />
    </>
  )
}
