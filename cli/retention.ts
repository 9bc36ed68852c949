/** `barograph retention`: confirms that days of raw readings expire which wait for a person. */

import { type Command, InvalidArgumentError } from 'commander'
import { Confirmed } from '../api/admin/retention.ts'
import type { CommandContext } from './command-context.ts'
import { printJson, printText } from './output.ts'

const confirmHelp = `
barograph status shows which days wait, and the command for all of them. Raw readings that have expired are gone; their
hours stay. Look at the clock of the server first: date -u

Example:
  barograph retention confirm 2026-03-01`

export function defineRetention(command: Command, { client, streams }: CommandContext): void {
  command
    .command('confirm')
    .description('let the waiting days before this day (UTC) expire')
    .argument('<day>', 'such as 2026-03-01', dayOf)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', confirmHelp)
    .action(async (before: string, { json }: { json?: boolean }) => {
      const confirmed = await client.json(Confirmed, 'POST', '/retention/confirm', { before })
      if (json === true) printJson(streams, confirmed)
      else printText(streams.stdout, `raw readings before ${confirmed.before} expire within the next two hours\n`)
    })
}

function dayOf(text: string): string {
  const day = Confirmed.shape.before.safeParse(text)
  if (!day.success) throw new InvalidArgumentError('A day must be a date such as 2026-03-01.')
  return day.data
}
