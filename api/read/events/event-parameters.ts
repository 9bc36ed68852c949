/** What a client of the events may ask for. */

import { z } from 'zod'
import type { Subscription } from '../../../live/events/event-client.ts'
import { fleetOrNamed } from '../read-subjects.ts'
import type { Fleet } from '../readers.ts'

const eventDevicesMax = 500

export const eventsSubject = fleetOrNamed('device', eventDevicesMax)

export const EventParameters = z.object({
  device: z
    .array(z.string())
    .max(eventDevicesMax)
    .optional()
    .meta({ description: 'The name of a device, once for each; without it all' }),
  state: z.enum(['0', '1']).optional().meta({ description: '1 for changes of states only' }),
})

export const EventHeaders = z.object({
  'Last-Event-ID': z.string().optional().meta({ description: 'What came after the event with this id is told.' }),
})

/** A text says what is wrong. */
export function subscriptionIn(query: object, { owner, named }: Fleet): Subscription | string {
  const { state } = query as Record<string, string | string[] | undefined>
  if (state !== undefined && state !== '0' && state !== '1') return 'state must be 1 for states only, or 0'
  return { devices: named && new Set(named.map(({ number }) => number)), owner, statesOnly: state === '1' }
}
