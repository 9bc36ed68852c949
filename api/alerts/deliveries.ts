/** Serves notifications: lists them with channel and outcome, and sends one again. */

import { z } from 'zod'
import { AttemptAnswer, Delivery, DeliveryDetails, deliveryStates } from '../../alerts/core/delivery.ts'
import type { AlertDeliveries } from '../../alerts/delivery/attempt-rows.ts'
import type { AdminOperation } from '../admin/operation.ts'
import { recordOperations } from '../admin/record-operations.ts'
import { recordId } from '../admin/request-fields.ts'
import { attemptAnswer, sendChannelRefusal } from './channels.ts'
import { bigId, byBigId, nextOf, ownerIn, pageLimit } from './guard-alerts.ts'

export interface DeliveriesOptions {
  alerts: { deliveries: AlertDeliveries }
}

export const DeliveryList = z
  .object({
    deliveries: z.array(Delivery.meta({ id: 'AlertDelivery' })),
    next: z.string().nullable().meta({ description: '`after` of the next page' }),
  })
  .meta({ id: 'AlertDeliveryList' })

const Query = z.strictObject({
  channel: recordId.optional().meta({ description: 'Deliveries of this channel only' }),
  state: z.enum(deliveryStates).optional(),
  limit: pageLimit,
  after: bigId.optional().meta({ description: '`next` of the page before' }),
})

export function deliveryOperations({ alerts: { deliveries } }: DeliveriesOptions): AdminOperation[] {
  const { list, one, action } = recordOperations({
    ...byBigId,
    prefix: '/api/alert-deliveries',
    unknown: 'DELIVERY_UNKNOWN',
    refuse: sendChannelRefusal,
  })
  return [
    list({
      name: 'list_alert_deliveries',
      summary: 'The notifications, newest first',
      query: Query,
      answer: 'A page of them',
      json: DeliveryList,
      async read(asked) {
        const found = await deliveries.page(ownerIn(asked), asked.query)
        return { deliveries: found, next: nextOf(found, asked.query.limit) }
      },
    }),
    one({
      name: 'get_alert_delivery',
      summary: 'One notification, with its attempts',
      answer: 'The notification',
      json: DeliveryDetails.meta({ id: 'AlertDeliveryDetails' }),
      read: asked => deliveries.get(ownerIn(asked), asked.path.id),
    }),
    action({
      below: '/replay',
      name: 'replay_alert_delivery',
      summary: 'Send a notification again',
      description: 'One attempt, with the same id, regardless of earlier outcomes.',
      answer: 'Its outcome',
      json: AttemptAnswer.meta({ id: 'AlertReplayAnswer' }),
      refusals: ['CHANNEL_DISABLED', 'TOO_MANY_REQUESTS'],
      run: asked => deliveries.replay(ownerIn(asked), asked.path.id, asked.actor),
      shown: attemptAnswer,
    }),
  ]
}
