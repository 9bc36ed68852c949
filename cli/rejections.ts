/** `barograph rejections`: readings that were not taken, newest first. */

import { Option } from 'commander'
import { RejectionPage } from '../api/admin/rejection-answers.ts'
import { rejectionWays } from '../ingest/rejections/rejection.ts'
import { entriesMax } from '../ingest/rejections/rejection-ring.ts'
import { operation, tableOf } from './operation-commands.ts'
import { countUpTo } from './option-values.ts'

export const defineRejections = operation('', '', {
  options: [
    ['--device <name>', 'rejections of this device or station only'],
    ['--way <way>', 'only those that came in by this way', rejectionWays],
    new Option('--limit <number>', 'how many at most').argParser(countUpTo(entriesMax)).default(100),
  ],
  help: `Since the start of the service (of several nodes, of the one that answers), the latest ${entriesMax} kinds. Rejections with the same way, sender, device and reason are one entry with a count.
A sender "key 7" is the one that keys list shows with this id.`,
  examples: ['rejections', 'rejections --device porch', "rejections --way mqtt --json | jq '.rejections[].reason'"],
  send: 'GET /admin/rejections',
  answer: RejectionPage,
  text: ({ rejected, since, node, rejections }) => [
    `${rejected} rejected since ${since}${node === undefined ? '' : ` at node ${node.id} on ${node.host}`}`,
    ...(rejections.length === 0
      ? []
      : tableOf(rejections, [['latest', 'at'], 'way', 'device', 'sender', 'count', 'reason'])),
  ],
})
