/** Status of the service in words, and its own metrics over time. */

import { useRef } from 'preact/hooks'
import type { StatusHistory } from '../../../api/admin/answers.ts'
import type { Status } from '../../../api/admin/status-answer.ts'
import { RangeControls } from '../../charts/range-controls.tsx'
import { type ShownRange, useRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useResource, useRested } from '../../client/use-resource.ts'
import { lazy, PageFailure, Skeleton } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { inOneUnit } from '../../text/numbers.ts'
import { pageTimes } from '../../text/preferences.ts'
import { createZone } from '../../text/zone.ts'
import { t } from '../../words/words.ts'
import { historyEveryMs, historyPresets, hoursOf } from './service-history.ts'
import { type StatusGroup, statusGroups } from './status-facts.ts'

const everyMs = 5_000

export function StatusSection() {
  const state = useResource<Status>(addressOf('/api/admin/status'), { everyMs })
  const shown = useRange(historyPresets)
  const past = useServiceHistory(shown)
  const status = lastValue(state)
  return (
    <>
      <PageFailure state={worstState([state, past.state])} timeText={pageTimes().time} />
      {state.kind === 'loading' ? <Skeleton name={t('The status is loading')} /> : null}
      {status === undefined ? null : (
        <>
          <Facts groups={statusGroups(status)} />
          <ServiceMetrics shown={shown} past={past} />
        </>
      )}
    </>
  )
}

function Facts({ groups }: { groups: readonly StatusGroup[] }) {
  return (
    <div class="groups">
      {groups.map(({ title, facts }) => (
        <section class="card" key={title}>
          <h2>{title}</h2>
          <dl>
            {facts.map(({ name, text, isBad = false }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd class={isBad ? 'bad' : undefined}>
                  {typeof text === 'string' ? text : <Moment at={text.getTime()} />}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}

interface ServiceMetricsProps {
  readonly shown: ShownRange
  readonly past: UsedHistory
}

const zone = createZone('UTC')

const ServiceCharts = lazy(t('chart'), () => import('./service-charts.tsx').then(module => module.ServiceCharts))

function ServiceMetrics({ shown, past: { state, history } }: ServiceMetricsProps) {
  return (
    <section class="card" aria-labelledby="service-metrics">
      <div class="section-head">
        <h2 id="service-metrics">{t('Service metrics')}</h2>
        <RangeControls presets={historyPresets} shown={shown} zone={zone} />
      </div>
      {state.kind === 'loading' && history === undefined ? <div class="charts-place" /> : null}
      {history === undefined ? null : <Shown history={history} shown={shown} />}
    </section>
  )
}

function Shown({ history, shown }: { history: StatusHistory; shown: ShownRange }) {
  if (history.points.length === 0) {
    return <p class="none-here">{t('There are no metrics yet. The first ones come seconds after QuestDB is up.')}</p>
  }
  return (
    <>
      <p class="lead">
        {t(
          'The worst of each {duration}; of rejected readings the sum. Lag is the time until QuestDB has an acknowledged reading. Times are UTC.',
          { duration: inOneUnit(history.step_s, true) },
        )}
      </p>
      <ServiceCharts history={history} shown={shown} />
    </>
  )
}

interface UsedHistory {
  readonly state: ResourceState<StatusHistory>
  /** Undefined while there has been no answer. */
  readonly history: StatusHistory | undefined
}

function useServiceHistory({ window, nowMs }: ShownRange): UsedHistory {
  const hours = hoursOf(window, nowMs)
  const url = useRested(addressOf(`/api/admin/status/history?hours=${hours}`))
  const state = useResource<StatusHistory>(url, { everyMs: historyEveryMs(hours) })
  const last = useRef<StatusHistory | undefined>(undefined)
  last.current = lastValue(state) ?? last.current
  return { state, history: last.current }
}
