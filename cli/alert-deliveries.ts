/** `barograph alerts deliveries`: shows notifications with what came of them, and sends them again. */

import { type Command, Option } from 'commander'
import { AttemptAnswer, type Delivery, DeliveryDetails, deliveryStates } from '../alerts/core/delivery.ts'
import { DeliveryList } from '../api/alerts/deliveries.ts'
import type { AdminClient } from './admin-client.ts'
import { recordId } from './alert-options.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { countUpTo } from './option-values.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

export function defineAlertDeliveries(deliveries: Command, { apiClient, streams }: CommandContext): void {
  addList(deliveries, apiClient, streams)
  addShow(deliveries, apiClient, streams)
  addReplay(deliveries, apiClient, streams)
}

function addList(deliveries: Command, client: AdminClient, streams: Streams): void {
  deliveries
    .command('list')
    .description('list the newest notifications')
    .option('--channel <id>', 'deliveries of this channel only', recordId)
    .addOption(new Option('--state <state>', 'only these').choices(deliveryStates))
    .option('--limit <count>', 'how many', countUpTo(1000), 100)
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts deliveries list --state waiting')
    .action(async ({ json, limit, ...said }: Json & { limit: number; channel?: string; state?: string }) => {
      const query = new URLSearchParams({ limit: String(limit), ...said })
      const { deliveries: found } = await client.json(DeliveryList, 'GET', `/alert-deliveries?${query}`)
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no notifications\n')
      else printTable(streams, [['id', 'made', 'state', 'attempts', 'kind', 'channel', 'rule'], ...found.map(rowOf)])
    })
}

function rowOf({ id, created_at, state, written, attempts, kind, channel, rule }: Delivery): string[] {
  return [id, created_at, written ? 'written' : state, String(attempts), kind, channel, rule ?? '-']
}

function addShow(deliveries: Command, client: AdminClient, streams: Streams): void {
  deliveries
    .command('show')
    .description('show a notification with its attempts')
    .argument('<id>', 'id of the notification', recordId)
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts deliveries show 17')
    .action(async (id: string, { json }: Json) => {
      const delivery = await client.json(DeliveryDetails, 'GET', `/alert-deliveries/${id}`)
      if (json === true) {
        printJson(streams, delivery)
        return
      }
      const { attempt_list, ...fields } = delivery
      printFields(streams, fields)
      if (attempt_list.length === 0) return
      printText(streams.stdout, '\n')
      printTable(streams, [
        ['at', 'status', 'ms', 'error', 'answer'],
        ...attempt_list.map(({ at, status, duration_ms, error, answer }) => {
          return [at, status === null ? '-' : String(status), String(duration_ms), error ?? '-', answer]
        }),
      ])
    })
}

function addReplay(deliveries: Command, client: AdminClient, streams: Streams): void {
  deliveries
    .command('replay')
    .description('send a notification again, with the same id')
    .argument('<id>', 'id of the notification', recordId)
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts deliveries replay 17')
    .action(async (id: string, { json }: Json) => {
      const answer = await client.json(AttemptAnswer, 'POST', `/alert-deliveries/${id}/replay`)
      if (json === true) printJson(streams, answer)
      else printFields(streams, answer)
      if (answer.outcome === 'written') throw new CommandError(`it was ${answer.answer}`)
      if (answer.outcome !== 'delivered') throw new CommandError('it was not delivered')
    })
}
