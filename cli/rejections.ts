/** `barograph rejections`: readings that were not taken, newest first. */

import { type Command, Option } from 'commander'
import { RejectionPage } from '../api/admin/rejection-answers.ts'
import { rejectionWays } from '../ingest/rejections/rejection.ts'
import { entriesMax } from '../ingest/rejections/rejection-ring.ts'
import type { CommandContext } from './command-context.ts'
import { countUpTo } from './option-values.ts'
import { printJson, printTable, printText } from './output.ts'

const help = `
Since the start of the service (of several nodes, of the one that answers), the latest ${entriesMax} kinds. Rejections with the same way, sender, device and reason are one entry with a count.
A sender "key 7" is the one that keys list shows with this id.

Examples:
  barograph rejections
  barograph rejections --device porch
  barograph rejections --way mqtt --json | jq '.rejections[].reason'`

interface Options {
  device?: string
  way?: string
  limit: number
  json?: boolean
}

export function defineRejections(command: Command, { client, streams }: CommandContext): void {
  command
    .option('--device <name>', 'rejections of this device or station only')
    .addOption(new Option('--way <way>', 'only those that came in by this way').choices(rejectionWays))
    .option('--limit <number>', 'how many at most', countUpTo(entriesMax), 100)
    .option('--json', 'print as JSON')
    .addHelpText('after', help)
    .action(async ({ device, way, limit, json }: Options) => {
      const query = new URLSearchParams({ limit: String(limit) })
      if (device !== undefined) query.set('device', device)
      if (way !== undefined) query.set('way', way)
      const page = await client.json(RejectionPage, 'GET', `/rejections?${query}`)
      if (json === true) {
        printJson(streams, page)
        return
      }
      const at = page.node === undefined ? '' : ` at node ${page.node.id} on ${page.node.host}`
      printText(streams.stdout, `${page.rejected} rejected since ${page.since}${at}\n`)
      if (page.rejections.length === 0) return
      printTable(streams, [['latest', 'way', 'device', 'sender', 'count', 'reason'], ...page.rejections.map(rowOf)])
    })
}

function rowOf({ at, way, device, sender, count, reason }: RejectionPage['rejections'][number]): string[] {
  return [at, way, device ?? '-', sender, String(count), reason]
}
