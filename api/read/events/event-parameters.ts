/** What a client of the events may ask for. */

import type { Subscription } from '../../../live/events/event-client.ts'
import { fleetOrNamed } from '../read-subjects.ts'
import type { Fleet } from '../readers.ts'

export const eventDevicesMax = 500

export const eventsSubject = fleetOrNamed('device', eventDevicesMax)
export const eventParameterNames = ['state']

/** A text says what is wrong. */
export function subscriptionIn(query: object, { owner, named }: Fleet): Subscription | string {
  const { state } = query as Record<string, string | string[] | undefined>
  if (state !== undefined && state !== '0' && state !== '1') return 'state must be 1 for states only, or 0'
  return { devices: named && new Set(named.map(({ number }) => number)), owner, statesOnly: state === '1' }
}
