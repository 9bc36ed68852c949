/** Keeps the fleet current: by events, and by reading the first page for the rest. */

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
  /** The first page with the service's state. */
  first: ReadonlySignal<ResourceState<FleetAnswer>>
  /** True while events arrive. */
  isLive: ReadonlySignal<boolean>
  /** Reads again after a person's change. */
  refresh(): void
  close(): void
}

/** Enough to fill a screen with the worst. */
const firstLimit = 200
const everyMs = 10_000

/** The devices with all these tags; without tags, all devices. */
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
