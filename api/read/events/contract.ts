/** The events' part of the published contract. */

import { z } from 'zod'
import { ServiceEvent } from '../../../live/events/event-shape.ts'
import type { PublishedRoute } from '../../docs/published-routes.ts'
import { errorsOf, ofReaders } from '../published-reads.ts'
import { eventDevicesMax } from './event-parameters.ts'

const EventParameters = z.object({
  device: z
    .array(z.string())
    .max(eventDevicesMax)
    .optional()
    .meta({ description: 'The name of a device, once for each; without it all' }),
  state: z.enum(['0', '1']).optional().meta({ description: '1 for changes of states only' }),
})

const EventHeaders = z.object({
  'Last-Event-ID': z.string().optional().meta({ description: 'What came after the event with this id is told.' }),
})

export const eventsRoute: PublishedRoute = {
  ...{
    method: 'get',
    path: '/api/events',
    name: 'read_events',
    summary: 'Readings and changes of states as they come',
  },
  description: 'Server-sent events.',
  parameters: { query: EventParameters, header: EventHeaders },
  success: { status: 200, description: 'Events, until the connection ends', events: ServiceEvent },
  refusals: errorsOf(
    ...(['TOO_MANY_PARAMETERS', 'DEVICE_UNKNOWN'] as const),
    ...ofReaders,
    ...(['TOO_MANY_STREAMS_OF_NETWORK', 'TOO_MANY_STREAMS_OF_CREDENTIAL'] as const),
    ...(['DATABASE_AWAY', 'TOO_MANY_STREAMS', 'CLOSING'] as const),
  ),
}
