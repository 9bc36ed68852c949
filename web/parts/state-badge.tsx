/** The state of a device as text and shape, readable without colour. */

import type { DeviceState } from '../client/device-states.ts'

const shapes: Record<DeviceState, string> = {
  /** A disc. */
  fresh: 'M7 1.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z',
  /** A triangle. */
  late: 'M7 1 13.5 12.5H.5z',
  /** A square that stands on its corner, with a cut. */
  silent: 'M7 0 14 7 7 14 0 7zM6 3h2v5H6zM6 9.5h2v2H6z',
  /** A ring. */
  never: 'M7 1a6 6 0 1 0 0 12A6 6 0 0 0 7 1zm0 2.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z',
  /** A bar. */
  off: 'M1 5.5h12v3H1z',
}

export function StateBadge({ state }: { state: DeviceState }) {
  return (
    <span class={`state ${state}`}>
      <StateShape state={state} />
      {state}
    </span>
  )
}

export function StateShape({ state }: { state: DeviceState }) {
  return (
    <svg class={`shape ${state}`} viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
      <path d={shapes[state]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  )
}
