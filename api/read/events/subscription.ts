/** Parameters of events, and the subscription that they ask for. */

import { z } from 'zod'
import { createTagMatcher, type Tagged } from '../../../auth/devices/tag.ts'
import type { Subscription } from '../../../query/live/events/event-client.ts'
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
  'Last-Event-ID': z.string().optional().meta({ description: 'Events after the one with this id are sent.' }),
})

/** A text is an error message. `find` finds a device by its number. */
export function subscriptionIn(query: object, { scope, named }: Fleet, find: FindDevice): Subscription | string {
  const { state } = query as Record<string, string | string[] | undefined>
  if (state !== undefined && state !== '0' && state !== '1') return 'state must be 1 for states only, or 0'
  const devices = named && new Set(named.map(({ number }) => number))
  const isTagged = scope?.tags && isTaggedBy(scope.tags, find)
  return { devices, owner: scope?.owner, isTagged, statesOnly: state === '1' }
}

type FindDevice = (number: number) => Tagged | undefined

function isTaggedBy(tags: readonly string[], find: FindDevice): (device: number) => boolean {
  const isTagged = createTagMatcher(tags)
  return number => {
    const device = find(number)
    return device !== undefined && isTagged(device)
  }
}
