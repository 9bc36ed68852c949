/** The service's metrics in the shown range. While another range loads, the last metrics stay. */

import { useRef } from 'preact/hooks'
import type { StatusHistory } from '../../../api/admin/status-history-answer.ts'
import type { ShownRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import { historyEveryMs, hoursOf } from './service-history.ts'

export interface UsedHistory {
  readonly state: ResourceState<StatusHistory>
  /** Undefined while there has been no answer. */
  readonly history: StatusHistory | undefined
}

export function useServiceHistory({ window, nowMs }: ShownRange): UsedHistory {
  const hours = hoursOf(window, nowMs)
  const url = useRested(addressOf(`/api/admin/status/history?hours=${hours}`))
  const state = useResource<StatusHistory>(url, { everyMs: historyEveryMs(hours) })
  const last = useRef<StatusHistory | undefined>(undefined)
  last.current = lastValue(state) ?? last.current
  return { state, history: last.current }
}
