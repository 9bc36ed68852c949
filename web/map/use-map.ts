/** Reads the extent of the devices first, then the marks of the visible window. */

import { useEffect, useRef, useState } from 'preact/hooks'
import type { FleetMap } from '../../query/live/fleet-shape.ts'
import { addressOf } from '../client/address.ts'
import { lastValue, type ResourceState } from '../client/resource-state.ts'
import { useRefreshed } from '../client/use-resource.ts'
import { useRested } from '../client/use-rested.ts'
import { boxText, fitted, type MapWindow, type Size } from './map-window.ts'
import { type Outlines, outlinesAddress, outlinesAt } from './outlines.ts'

const everyMs = 10_000
const restMs = 1_000

export interface ShownMap {
  /** Undefined until the first answer has the extent of the devices. */
  window: MapWindow | undefined
  /** The last answer, perhaps for an earlier window. */
  answer: FleetMap | undefined
  state: ResourceState<FleetMap>
  change(change: (window: MapWindow) => MapWindow): void
  /** Shows all devices. */
  fit(): void
}

/** `filter`: arguments for all requests, each behind a `&`; `changes`: another text says that the states of devices are others. */
export function useMap(filter: string, changes: string, size: Size): ShownMap {
  const [window, setWindow] = useState<MapWindow>()
  const last = useRef<FleetMap>()
  const box = useRested(window && boxText(window, size))
  const query = `${filter}${box === undefined ? '' : `&box=${box}`}`.slice(1)
  const isDrawn = size.width > 0
  const { state, refresh } = useRefreshed<FleetMap>(
    isDrawn ? addressOf(`/api/fleet/map${query === '' ? '' : `?${query}`}`) : undefined,
    { everyMs },
  )
  const found = lastValue(state)
  if (found !== undefined) last.current = found
  const answer = state.kind === 'failed' ? undefined : last.current
  const rested = useRested(changes, restMs)
  useEffect(refresh, [rested])
  const fit = () => {
    if (answer?.extent) setWindow(fitted(answer.extent, size))
  }
  useEffect(() => {
    if (window === undefined && isDrawn) fit()
  }, [answer, isDrawn])
  return { window, answer, state, change: change => setWindow(before => before && change(before)), fit }
}

/** Undefined until the first ones have come; `failed` where there are none to be had. */
export function useOutlines(side: number): Outlines | 'failed' | undefined {
  const [outlines, setOutlines] = useState<Outlines | 'failed'>()
  const address = outlinesAddress(side)
  useEffect(() => {
    let isWanted = true
    outlinesAt(address).then(
      found => isWanted && setOutlines(found),
      () => isWanted && setOutlines(before => before ?? 'failed'),
    )
    return () => {
      isWanted = false
    }
  }, [address])
  return outlines
}
