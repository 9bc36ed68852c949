/** `barograph dead-letters`: lists, replays and discards readings and points that QuestDB rejected. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type DamagedLetter,
  type DeadLetter,
  DeadLetterPage,
  Discarded,
  type LetterTable,
  letterTables,
  Replayed,
} from '../api/admin/dead-letter-answers.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { printJson, printTable, printText } from './output.ts'

const listHelp = `
Examples:
  barograph dead-letters list
  barograph dead-letters list --table points
  barograph dead-letters list --json | jq '.[].reason'`

const replayHelp = `
A row that is rejected again becomes a dead letter again. Damaged dead letters are skipped.

Examples:
  barograph dead-letters replay                          all of both tables
  barograph dead-letters replay 4711 4822                these two readings
  barograph dead-letters replay 4711 --table points      this point`

const discardHelp = `
Their rows were acknowledged and are stored nowhere else.

Example:
  barograph dead-letters discard 4711 --table points`

interface Options {
  json?: boolean
  table?: LetterTable
}

export function defineDeadLetters(command: Command, { client, streams }: CommandContext): void {
  command
    .command('list')
    .description('list rejected rows with the reasons')
    .addOption(tableOption('dead letters of this table only'))
    .option('--json', 'print as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ json, table }: Options) => {
      const letters: (DeadLetter | DamagedLetter)[] = []
      for (const each of table === undefined ? letterTables : [table]) letters.push(...(await readAll(client, each)))
      if (json === true) printJson(streams, letters)
      else if (letters.length === 0) printText(streams.stdout, 'no dead letters\n')
      else printTable(streams, [['table', 'id', 'series', 'time', 'values', 'reason'], ...letters.map(rowOf)])
    })
  command
    .command('replay')
    .description('send rejected rows again: all, or those with these ids')
    .argument('[id...]', 'ids of dead letters', collectId)
    .addOption(tableOption('the table that the ids are of (default: readings)'))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', replayHelp)
    .action(async (ids: number[], { json, table }: Options) => {
      const body = { table, ...(ids.length === 0 ? {} : { ids }) }
      const { replayed, damaged } = await client.json(Replayed, 'POST', '/dead-letters/replay', body)
      if (json === true) printJson(streams, { replayed, damaged })
      else printText(streams.stdout, `replayed ${replayed} dead letters\n`)
      if (json !== true && damaged > 0) {
        printText(streams.stderr, `skipped ${damaged} damaged dead letters: see barograph dead-letters list\n`)
      }
    })
  command
    .command('discard')
    .description('delete rejected rows permanently')
    .argument('<id...>', 'ids of dead letters', collectId)
    .addOption(tableOption('the table that the ids are of (default: readings)'))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', discardHelp)
    .action(async (ids: number[], { json, table }: Options) => {
      const { discarded } = await client.json(Discarded, 'POST', '/dead-letters/discard', { table, ids })
      if (json === true) printJson(streams, { discarded })
      else printText(streams.stdout, `discarded ${discarded} dead letters\n`)
    })
}

function tableOption(description: string): Option {
  return new Option('--table <table>', description).choices(letterTables)
}

async function readAll(client: AdminClient, table: LetterTable): Promise<(DeadLetter | DamagedLetter)[]> {
  const letters: (DeadLetter | DamagedLetter)[] = []
  for (let after = ''; ; ) {
    const page = await client.json(DeadLetterPage, 'GET', `/dead-letters?table=${table}${after}`)
    letters.push(...page.dead_letters, ...page.damaged)
    if (page.next === null) return letters
    after = `&after=${page.next}`
  }
}

function rowOf(letter: DeadLetter | DamagedLetter): string[] {
  if ('name' in letter)
    return [letter.table, String(letter.id), '', '', '', `damaged: ${letter.name}: ${letter.reason}`]
  const { table, id, symbol, time, values, reason } = letter
  const present = Object.entries(values).filter(([, value]) => value !== null)
  return [table, String(id), symbol, time, present.map(([name, value]) => `${name}=${value}`).join(' '), reason]
}

function collectId(text: string, earlier: number[] = []): number[] {
  if (!(/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))))
    throw new InvalidArgumentError('An id must be a whole number; see dead-letters list.')
  return [...earlier, Number(text)]
}
