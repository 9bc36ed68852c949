/** `barograph retention`: confirms that days of raw readings expire which wait for a person. */

import { InvalidArgumentError } from 'commander'
import { Confirmed } from '../api/admin/retention.ts'
import { operation } from './operation-commands.ts'

export const defineRetention = operation('confirm', 'let the waiting days before this day (UTC) expire', {
  arguments: [['<day>', 'such as 2026-03-01', dayOf]],
  json: 'print the result as JSON',
  help: `barograph status shows which days wait, and the command for all of them. Raw readings that have expired are gone; their
hours stay. Look at the clock of the server first: date -u`,
  examples: ['retention confirm 2026-03-01'],
  send: 'POST /admin/retention/confirm',
  fields: { day: 'before' },
  answer: Confirmed,
  text: ({ before }) => [`raw readings before ${before} expire within the next two hours`],
})

function dayOf(text: string): string {
  const day = Confirmed.shape.before.safeParse(text)
  if (!day.success) throw new InvalidArgumentError('A day must be a date such as 2026-03-01.')
  return day.data
}
