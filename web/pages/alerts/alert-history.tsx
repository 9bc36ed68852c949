/** What has happened to an alert, and who was told. */

import type { Alert, AlertEventRow } from '../../../alerts/core/alert.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { FailureBanner } from '../../parts/failure-banner.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import type { Times } from '../../theme/times.ts'

const everyMs = 30_000

const words: Record<string, string> = {
  pending: 'begins',
  firing: 'fires',
  resolved: 'is resolved',
  flapping: 'flaps: it is quiet until half an hour without a change',
  settled: 'no longer flaps',
  acknowledged: 'is acknowledged',
  notified: 'is notified',
  silenced: 'is silenced',
}

export function AlertHistory({ id, times }: { id: string; times: Times }) {
  const state = useResource<Alert & { events: AlertEventRow[] }>(addressOf(`/api/alerts/${id}`), { everyMs })
  const details = lastValue(state)
  if (details === undefined && state.kind === 'loading') return <Skeleton name="The history is loading" rows={2} />
  return (
    <div class="history">
      <FailureBanner state={state} timeText={times.time} />
      <ol>
        {details?.events.map(({ at, kind, details }, place) => (
          <li key={place}>
            <Moment at={at} times={times} /> {words[kind] ?? kind}
            {detailText(details)}
          </li>
        ))}
      </ol>
    </div>
  )
}

/** Who did it, or by which channel. */
function detailText(details: object): string {
  const { by, channel, reason } = details as Record<string, unknown>
  const texts = [by, channel, reason].filter(text => typeof text === 'string')
  return texts.length === 0 ? '' : `: ${texts.join(', ')}`
}
