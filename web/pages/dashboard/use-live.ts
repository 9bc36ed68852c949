/** Last values and states from one stream of events for all panels of a dashboard. */

import { useEffect, useState } from 'preact/hooks'
import type { FleetDevice, LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { alertChanged } from '../../client/firing.ts'

interface LiveDevice {
  readonly state?: FleetDevice['state']
  readonly lastSeen?: number
  readonly values: Readonly<Record<string, { readonly v: number; readonly ts: number }>>
}

export type Live = ReadonlyMap<string, LiveDevice>

const devicesMax = 1_000
const showEveryMs = 1_000

/** `devices`: undefined for all. None opens no stream, since a stream of an unknown device is refused. */
export function useLive(devices: readonly string[] | undefined): Live {
  const [live, setLive] = useState<Live>(new Map())
  const query = devices?.map(name => `device=${encodeURIComponent(name)}`).join('&')
  useEffect(() => {
    if (query === '') return undefined
    const known = new Map<string, LiveDevice>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const change = (device: string, changed: (before: LiveDevice) => LiveDevice) => {
      const after = changed(known.get(device) ?? { values: {} })
      known.delete(device)
      known.set(device, after)
      if (known.size > devicesMax) known.delete(known.keys().next().value as string)
      timer ??= setTimeout(() => {
        timer = undefined
        setLive(new Map(known))
      }, showEveryMs)
    }
    const close = openEvents(addressOf(`/api/events${query === undefined ? '' : `?${query}`}`), {
      on: {
        reading: ({ device, ts, values }) =>
          change(device, before => ({
            ...before,
            lastSeen: Math.max(ts, before.lastSeen ?? 0),
            values: {
              ...before.values,
              ...Object.fromEntries(Object.entries(values).map(([name, v]) => [name, { v, ts }])),
            },
          })),
        state: ({ device, state }) => change(device, before => ({ ...before, state })),
        alert: alertChanged,
      },
      onLive: () => undefined,
      // The panels read again by themselves.
      onGap: () => known.clear(),
    })
    return () => {
      clearTimeout(timer)
      close()
    }
  }, [query])
  return live
}

/** A later answer of the service replaces values of events. */
export function withLive(latest: LatestOfDevice, live: LiveDevice | undefined): LatestOfDevice {
  if (live === undefined) return latest
  const values = { ...latest.values }
  for (const [name, { v, ts }] of Object.entries(live.values)) {
    const known = values[name]
    if (known !== undefined && ts > known.ts) values[name] = { ...known, v, ts }
  }
  return { ...latest, values, state: live.state ?? latest.state }
}
