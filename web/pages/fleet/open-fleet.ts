/** The fleet kept current: events keep it live, and the first page is read again for what no event tells. */

import { type ReadonlySignal, signal } from '@preact/signals'
import type { Fleet as FleetAnswer } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { alertChanged } from '../../client/firing.ts'
import { openResource } from '../../client/resource.ts'
import type { ResourceState } from '../../client/resource-state.ts'
import { FleetList } from './fleet-list.ts'
import { tagArguments } from './fleet-tags.ts'

export interface Fleet extends Pick<FleetList, 'devices' | 'counts' | 'metrics' | 'isComplete' | 'tags'> {
  /** The first page, which tells how the service is. */
  first: ReadonlySignal<ResourceState<FleetAnswer>>
  /** Whether events come. */
  isLive: ReadonlySignal<boolean>
  /** Reads again what somebody has changed. */
  refresh(): void
  close(): void
}

/** Enough to fill a screen with the worst. */
const firstLimit = 200
const everyMs = 10_000

/** Of the devices with all these tags; without any, of all. */
export function openFleet(tags: readonly string[]): Fleet {
  const list = new FleetList(tags)
  const isLive = signal(false)
  const first = openResource<FleetAnswer>(addressOf(`/api/fleet?limit=${firstLimit}${tagArguments(tags)}`), { everyMs })
  let taken: FleetAnswer | undefined
  const stop = first.state.subscribe(state => {
    if (state.kind !== 'ready') return
    const isNew = state.value !== taken
    taken = state.value
    list.takeFirst(state.value, { isNew, isLive: isLive.peek() })
  })
  const refresh = () => {
    list.invalidate()
    void first.refresh()
  }
  const closeEvents = openEvents(addressOf('/api/events'), {
    on: {
      reading: data => list.takeReading(data),
      state: ({ device, state }) => list.takeState(device, state),
      alert: alertChanged,
    },
    onLive: live => {
      isLive.value = live
    },
    onGap() {
      refresh()
      alertChanged()
    },
  })
  return {
    tags,
    devices: list.devices,
    counts: list.counts,
    metrics: list.metrics,
    isComplete: list.isComplete,
    first: first.state,
    isLive,
    refresh,
    close() {
      stop()
      closeEvents()
      first.close()
      list.close()
    },
  }
}
