/** The trends of the rows on the screen, read once these have come to rest and from time to time again. */

import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { FleetTrends } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import { type KnownTrends, withNewer } from './fleet-trends.ts'

export type Trends = ReadonlySignal<KnownTrends>

const everyMs = 60_000

/** Trends of the devices in `path` and of earlier paths. */
export function useTrends(path: string | undefined): Trends {
  const trends = useSignal<KnownTrends>(new Map())
  const rested = useRested(path)
  const state = useResource<FleetTrends>(rested === undefined ? undefined : addressOf(rested), { everyMs })
  useEffect(() => {
    if (state.kind === 'ready') trends.value = withNewer(trends.peek(), state.value.devices)
  }, [state])
  return trends
}
