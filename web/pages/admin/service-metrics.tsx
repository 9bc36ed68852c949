/** The card of the service's own metrics over time: the range, the charts, and a placeholder without any. */

import type { StatusHistory } from '../../../api/admin/status-history-answer.ts'
import { RangeControls } from '../../charts/range-controls.tsx'
import type { ShownRange } from '../../charts/use-range.ts'
import { lazy } from '../../parts/lazy.tsx'
import { createZone } from '../../text/zone.ts'
import { historyPresets, stepText } from './service-history.ts'
import type { UsedHistory } from './use-service-history.ts'

export interface ServiceMetricsProps {
  readonly shown: ShownRange
  readonly past: UsedHistory
}

const zone = createZone('UTC')

const ServiceCharts = lazy('chart', () => import('./service-charts.tsx').then(module => module.ServiceCharts))

export function ServiceMetrics({ shown, past: { state, history } }: ServiceMetricsProps) {
  return (
    <section class="card" aria-labelledby="service-metrics">
      <div class="section-head">
        <h2 id="service-metrics">Service metrics</h2>
        <RangeControls presets={historyPresets} shown={shown} zone={zone} />
      </div>
      {state.kind === 'loading' && history === undefined ? <div class="charts-place" /> : null}
      {history === undefined ? null : <Shown history={history} shown={shown} />}
    </section>
  )
}

function Shown({ history, shown }: { history: StatusHistory; shown: ShownRange }) {
  if (history.points.length === 0) {
    return <p class="none-here">There are no metrics yet. The first ones come seconds after QuestDB is up.</p>
  }
  return (
    <>
      <p class="lead">
        The worst of each {stepText(history.step_s)}; of rejected readings the sum. Lag is the time until QuestDB has an
        acknowledged reading. Times are UTC.
      </p>
      <ServiceCharts history={history} shown={shown} />
    </>
  )
}
