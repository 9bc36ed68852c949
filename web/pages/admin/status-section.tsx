/** Status and history of the service: journal, databases, disk and retention in words, its metrics in charts. */

import type { Status } from '../../../api/admin/status-answer.ts'
import { useRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue, worstState } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { PageFailure } from '../../parts/failure-banner.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { pageTimes } from '../../text/page-times.ts'
import { historyPresets } from './service-history.ts'
import { ServiceMetrics } from './service-metrics.tsx'
import { type StatusGroup, statusGroups } from './status-facts.ts'
import { useServiceHistory } from './use-service-history.ts'

const everyMs = 5_000

export function StatusSection() {
  const state = useResource<Status>(addressOf('/api/admin/status'), { everyMs })
  const shown = useRange(historyPresets)
  const past = useServiceHistory(shown)
  const status = lastValue(state)
  return (
    <>
      <PageFailure state={worstState([state, past.state])} timeText={pageTimes().time} />
      {state.kind === 'loading' ? <Skeleton name="The status is loading" /> : null}
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
