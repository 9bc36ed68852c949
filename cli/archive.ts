/** `barograph archive`: archived days of raw rows, listed, verified and restored. */

import { type Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { ArchivedDays, Confirmed, Dropped, Restored, Verified } from '../api/admin/archive.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { operation } from './operation-commands.ts'
import { bytesText, printJson, printTable, printText } from './output.ts'

type Day = ArchivedDays['days'][number]
interface Options {
  day?: string
  json?: boolean
}

const restoreHelp = `
Rows come to the tables readings_restored and measurements_restored of QuestDB. Charts and answers show the hours of the day, as before.

Examples:
  barograph archive restore --day 2026-11-27
  barograph archive drop-restored --day 2026-11-27`

export function defineArchive(command: Command, { client, streams }: CommandContext): void {
  const { stdout, stderr } = streams
  command
    .command('list')
    .description('list archived days')
    .option('--json', 'print as JSON, with the files')
    .addHelpText('after', '\nExample:\n  barograph archive list')
    .action(async ({ json }: Options) => {
      const days = await readDays(client)
      if (json === true) printJson(streams, days)
      else if (days.length === 0) printText(stdout, 'no archived days\n')
      else printTable(streams, [['day', 'rows', 'size', 'files', 'written'], ...days.map(rowOf)])
    })
  command
    .command('verify')
    .description('read archived files and compare them with their notes')
    .option('--day <day>', 'this day (UTC) alone', dayOf)
    .addHelpText(
      'after',
      '\nExit status: 0 all files are whole, 1 a file is missing or damaged.\n\nExample:\n  barograph archive verify',
    )
    .action(async ({ day }: Options) => {
      let [files, faults] = [0, 0]
      for (const one of await readDays(client, day)) {
        for (const { file } of one.files) {
          const { fault } = await client.json(Verified, 'POST', '/archive/verify', { day: one.day, file })
          files++
          if (fault === null) continue
          faults++
          printText(stderr, `${fault}\n`)
        }
      }
      if (faults > 0) throw new CommandError(`${faults} of ${files} files are not as noted`)
      printText(stdout, `${files} files are whole\n`)
    })
  command
    .command('restore')
    .description('copy the rows of an archived day into tables of QuestDB')
    .requiredOption('--day <day>', 'such as 2026-11-27 (UTC)', dayOf)
    .addHelpText('after', restoreHelp)
    .action(async ({ day = '' }: Options) => {
      let rows = 0
      for (const { files } of await readDays(client, day)) {
        for (const { file } of files) {
          rows += (await client.json(Restored, 'POST', '/archive/restore', { day, file })).rows
        }
      }
      printText(stdout, `restored ${rows} rows of ${day}\n`)
    })
  command
    .command('drop-restored')
    .description('remove the restored rows of a day')
    .requiredOption('--day <day>', 'such as 2026-11-27 (UTC)', dayOf)
    .addHelpText(
      'after',
      '\nThe archive keeps the day.\n\nExample:\n  barograph archive drop-restored --day 2026-11-27',
    )
    .action(async ({ day }: Options) => {
      await client.json(Dropped, 'POST', '/archive/drop-restored', { day })
      printText(stdout, `removed the restored rows of ${day}\n`)
    })
}

/** All archived days, or a single one. */
async function readDays(client: AdminClient, day?: string): Promise<Day[]> {
  const days: Day[] = []
  for (let from = day ?? '1970-01-01'; ; ) {
    const page = await client.json(ArchivedDays, 'GET', `/archive?from=${from}`)
    if (day !== undefined) {
      const found = page.days.filter(one => one.day === day)
      if (found.length === 0) throw new CommandError(`${day} is not archived: see barograph archive list`)
      return found
    }
    days.push(...page.days)
    if (page.next === null) return days
    from = page.next
  }
}

function rowOf({ day, files, written_at }: Day): string[] {
  const sumOf = (value: (file: Day['files'][number]) => number) => files.reduce((sum, file) => sum + value(file), 0)
  return [day, String(sumOf(file => file.rows)), bytesText(sumOf(file => file.bytes)), String(files.length), written_at]
}

function dayOf(text: string): string {
  const day = z.iso.date().safeParse(text)
  if (!day.success) throw new InvalidArgumentError('A day must be a date such as 2026-11-27.')
  return day.data
}

/** `barograph retention`: confirms that days of raw readings expire which wait for a person. */
export const defineRetention = operation('confirm', 'let the waiting days before this day (UTC) expire', {
  arguments: [['<day>', 'such as 2026-03-01', expiryDay]],
  json: 'print the result as JSON',
  help: `barograph status shows which days wait, and the command for all of them. Raw readings that have expired are gone; their
hours stay. Look at the clock of the server first: date -u`,
  examples: ['retention confirm 2026-03-01'],
  send: 'POST /admin/retention/confirm',
  fields: { day: 'before' },
  answer: Confirmed,
  text: ({ before }) => [`raw readings before ${before} expire within the next two hours`],
})

function expiryDay(text: string): string {
  const day = Confirmed.shape.before.safeParse(text)
  if (!day.success) throw new InvalidArgumentError('A day must be a date such as 2026-03-01.')
  return day.data
}
