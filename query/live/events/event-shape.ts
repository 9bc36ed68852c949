/** The events of readings, states and alerts, as clients get them. */

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

const AlertEvent = z
  .strictObject({
    event: z.literal('alert'),
    data: z.strictObject({
      id: z.string(),
      rule: z.string().meta({ description: 'Its name' }),
      rule_id: z.int(),
      device: z
        .string()
        .nullable()
        .meta({ description: 'Null: of the devices of the rule together, or of the service' }),
      state: z.enum(['pending', 'firing', 'resolved']),
      severity: z.enum(['info', 'warning', 'critical']),
      flapping: z.boolean(),
      acknowledged: z.boolean(),
      at: z.iso.datetime().meta({ description: 'When it came to this state' }),
    }),
  })
  .meta({ id: 'AlertEvent', description: 'Sent to signed-in clients that may see the rule.' })
export type AlertEvent = z.infer<typeof AlertEvent>

const ResetEvent = z
  .strictObject({ id, event: z.literal('reset'), data: z.strictObject({}) })
  .meta({ id: 'ResetEvent', description: 'Events were missed: read the state again.' })

export const ServiceEvent = z
  .union([ReadingEvent, StateEvent, AlertEvent, ResetEvent])
  .meta({ id: 'ServiceEvent', description: 'The fields of an event; data comes as JSON text.' })
export type ServiceEvent = z.infer<typeof ServiceEvent>
