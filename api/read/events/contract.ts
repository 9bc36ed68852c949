/** The events' part of the published contract. */

import { z } from 'zod'
import { liveStates } from '../../../live/live-state.ts'
import { metrics } from '../../../store/tables.ts'
import type { PublishedRoute } from '../../docs/published-routes.ts'
import { errorsOf, ofReaders } from '../published-reads.ts'
import { eventDevicesMax } from './event-parameters.ts'

const id = z.string().meta({ description: 'For Last-Event-ID.' })

const ReadingEvent = z
  .strictObject({
    ...{ id, event: z.literal('reading') },
    data: z.strictObject({
      device: z.string(),
      ts: z.int().meta({ description: 'Milliseconds since 1970' }),
      values: z.partialRecord(z.enum(metrics), z.number()),
    }),
  })
  .meta({ id: 'ReadingEvent' })

const StateEvent = z
  .strictObject({
    event: z.literal('state'),
    data: z.strictObject({ device: z.string(), state: z.enum(liveStates) }),
  })
  .meta({ id: 'StateEvent' })

const ResetEvent = z
  .strictObject({ id, event: z.literal('reset'), data: z.strictObject({}) })
  .meta({ id: 'ResetEvent', description: 'Something was missed: read anew.' })

const ServiceEvent = z
  .union([ReadingEvent, StateEvent, ResetEvent])
  .meta({ id: 'ServiceEvent', description: 'The fields of an event; data comes as JSON text.' })

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
