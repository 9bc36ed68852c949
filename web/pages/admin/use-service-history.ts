/** The service's own figures in the range that is shown; while those of another one are on their way, the last ones stay. */

import { useRef } from 'preact/hooks'
import type { ShownRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import { historyEveryMs, hoursOf } from './service-history.ts'
import type { ServiceHistory } from './shapes.ts'

export interface UsedHistory {
  readonly state: ResourceState<ServiceHistory>
  /** Undefined while there has been no answer. */
  readonly history: ServiceHistory | undefined
}

export function useServiceHistory({ window, nowMs }: ShownRange): UsedHistory {
  const hours = hoursOf(window, nowMs)
  const url = useRested(addressOf(`/api/admin/status/history?hours=${hours}`))
  const state = useResource<ServiceHistory>(url, { everyMs: historyEveryMs(hours) })
  const last = useRef<ServiceHistory | undefined>(undefined)
  last.current = lastValue(state) ?? last.current
  return { state, history: last.current }
}
