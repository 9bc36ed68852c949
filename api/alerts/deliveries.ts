/** Notifications by HTTP: to which channel they went and what came of it, and sending one again. */

import { z } from 'zod'
import { AttemptAnswer, Delivery, DeliveryDetails, deliveryStates } from '../../alerts/core/delivery.ts'
import type { AlertDeliveries } from '../../alerts/delivery/attempt-rows.ts'
import { type AdminOperation, operation } from '../admin/operation.ts'
import { sendProblem } from '../admin/problem.ts'
import { recordId } from '../admin/record-id.ts'
import { bigId, nextOf, ownerIn, pageLimit } from './asked.ts'
import { attemptAnswer, sendChannelRefusal } from './channels.ts'

export interface DeliveriesOptions {
  alerts: { deliveries: AlertDeliveries }
}

export const DeliveryList = z
  .object({
    deliveries: z.array(Delivery.meta({ id: 'AlertDelivery' })),
    next: z.string().nullable().meta({ description: '`after` of the page behind it' }),
  })
  .meta({ id: 'AlertDeliveryList' })

const Query = z.strictObject({
  channel: recordId.optional().meta({ description: 'Only those of this channel' }),
  state: z.enum(deliveryStates).optional(),
  limit: pageLimit,
  after: bigId.optional().meta({ description: '`next` of the page before' }),
})

const path = z.object({ id: bigId })

export function deliveryOperations({ alerts: { deliveries } }: DeliveriesOptions): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/',
      name: 'list_alert_deliveries',
      summary: 'The notifications, newest first',
      parameters: { query: Query },
      success: { status: 200, description: 'A page of them', json: DeliveryList },
      async handle(asked, reply) {
        const found = await deliveries.page(ownerIn(asked), asked.query)
        return reply.send({ deliveries: found, next: nextOf(found, asked.query.limit) })
      },
    }),
    operation({
      method: 'GET',
      path: '/:id',
      name: 'get_alert_delivery',
      summary: 'One notification, with its attempts',
      parameters: { path },
      pathError: 'DELIVERY_UNKNOWN',
      success: {
        status: 200,
        description: 'The notification',
        json: DeliveryDetails.meta({ id: 'AlertDeliveryDetails' }),
      },
      refusals: ['DELIVERY_UNKNOWN'],
      async handle(asked, reply) {
        const found = await deliveries.get(ownerIn(asked), asked.path.id)
        return found === undefined ? sendProblem(reply, 'DELIVERY_UNKNOWN') : reply.send(found)
      },
    }),
    operation({
      method: 'POST',
      path: '/:id/replay',
      name: 'replay_alert_delivery',
      summary: 'Send a notification again',
      description: 'Now, once, with the same id, whatever came of it before.',
      parameters: { path },
      pathError: 'DELIVERY_UNKNOWN',
      success: { status: 200, description: 'What came of it', json: AttemptAnswer.meta({ id: 'AlertReplayAnswer' }) },
      refusals: ['DELIVERY_UNKNOWN', 'CHANNEL_DISABLED', 'TOO_MANY_REQUESTS', 'OUTCOME_UNKNOWN'],
      async handle(asked, reply) {
        const sent = await deliveries.replay(ownerIn(asked), asked.path.id, asked.actor)
        return sent.ok ? reply.send(attemptAnswer(sent.value)) : sendChannelRefusal(reply, sent)
      },
    }),
  ]
}
