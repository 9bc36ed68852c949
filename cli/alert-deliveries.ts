/** `barograph alerts deliveries`: shows notifications with their attempts, and sends them again. */

import { Option } from 'commander'
import { AttemptAnswer, DeliveryDetails, deliveryStates } from '../alerts/core/delivery.ts'
import { DeliveryList } from '../api/alerts/deliveries.ts'
import { attemptFailure } from './alert-options.ts'
import { commands, operation, tableOf } from './operation-commands.ts'
import { countUpTo, recordId } from './option-values.ts'

const id = ['<id>', 'id of the notification', recordId] as const

export const defineAlertDeliveries = commands(
  operation('list', 'list the newest notifications', {
    options: [
      ['--channel <id>', 'deliveries of this channel only', recordId],
      ['--state <state>', 'only these', deliveryStates],
      new Option('--limit <count>', 'how many').argParser(countUpTo(1000)).default(100),
    ],
    examples: ['alerts deliveries list --state waiting'],
    send: 'GET /alert-deliveries',
    answer: DeliveryList,
    asJson: ({ deliveries }) => deliveries,
    text: ({ deliveries }) =>
      tableOf(
        deliveries,
        [
          'id',
          ['made', 'created_at'],
          ['state', ({ written, state }) => (written ? 'written' : state)],
          ...(['attempts', 'kind', 'channel', 'rule'] as const),
        ],
        'no notifications',
      ),
  }),
  operation('show', 'show a notification with its attempts', {
    arguments: [id],
    examples: ['alerts deliveries show 17'],
    send: 'GET /alert-deliveries/:id',
    answer: DeliveryDetails,
    text: ({ attempt_list, ...fields }) => [
      fields,
      ...(attempt_list.length === 0
        ? []
        : [
            '',
            ...tableOf(attempt_list, [
              'at',
              'status',
              ['ms', 'duration_ms'],
              'error',
              ['answer', ({ answer }) => answer],
            ]),
          ]),
    ],
  }),
  operation('replay', 'send a notification again, with the same id', {
    arguments: [id],
    examples: ['alerts deliveries replay 17'],
    send: 'POST /alert-deliveries/:id/replay',
    answer: AttemptAnswer,
    failure: attemptFailure('it'),
  }),
)
