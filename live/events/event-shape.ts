/** The events of readings and states, as clients get them. */

import { z } from 'zod'
import { liveStates } from '../live-state.ts'

const id = z.string().meta({ description: 'For Last-Event-ID.' })

const ReadingEvent = z
  .strictObject({
    id,
    event: z.literal('reading'),
    data: z.strictObject({
      device: z.string(),
      ts: z.int().meta({ description: 'Milliseconds since 1970' }),
      values: z.record(z.string(), z.number()).meta({ description: 'By the name of the metric' }),
    }),
  })
  .meta({ id: 'ReadingEvent' })
export type ReadingEvent = z.infer<typeof ReadingEvent>

const StateEvent = z
  .strictObject({
    event: z.literal('state'),
    data: z.strictObject({ device: z.string(), state: z.enum(liveStates) }),
  })
  .meta({ id: 'StateEvent' })

const ResetEvent = z
  .strictObject({ id, event: z.literal('reset'), data: z.strictObject({}) })
  .meta({ id: 'ResetEvent', description: 'Something was missed: read anew.' })

export const ServiceEvent = z
  .union([ReadingEvent, StateEvent, ResetEvent])
  .meta({ id: 'ServiceEvent', description: 'The fields of an event; data comes as JSON text.' })
export type ServiceEvent = z.infer<typeof ServiceEvent>
