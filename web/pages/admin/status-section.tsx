/** How the service is: journal, databases, disk, retention. */

import { addressOf } from '../../client/address.ts'
import { useResource } from '../../client/use-resource.ts'
import { FailureBanner } from '../../parts/failure-banner.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import type { AdminStatus } from './shapes.ts'
import { statusGroups } from './status-facts.ts'
import { times } from './utc.ts'

const everyMs = 5_000

export function StatusSection() {
  const state = useResource<AdminStatus>(addressOf('/api/admin/status'), { everyMs })
  const groups = state.kind === 'ready' || state.kind === 'stale' ? statusGroups(state.value) : []
  return (
    <>
      <FailureBanner state={state} timeText={times.time} />
      {state.kind === 'loading' ? <Skeleton name="The status is loading" /> : null}
      <div class="groups">
        {groups.map(({ title, facts }) => (
          <section class="card" key={title}>
            <h2>{title}</h2>
            <dl>
              {facts.map(({ name, text, isBad = false }) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd class={isBad ? 'bad' : undefined}>{text}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </>
  )
}
