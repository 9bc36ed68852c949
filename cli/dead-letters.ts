/** `barograph dead-letters`: lists and replays readings that QuestDB rejected. */

import { type Command, InvalidArgumentError } from 'commander'
import { DeadLetterPage, Replayed } from '../api/admin/dead-letters.ts'
import type { AdminClient } from './admin-client.ts'
import { printJson, printTable, printText, type Streams } from './output.ts'

type DeadLetter = DeadLetterPage['dead_letters'][number]

const listHelp = `
Examples:
  barograph dead-letters list
  barograph dead-letters list --json | jq '.[].reason'`

const replayHelp = `
A reading that is rejected again becomes a dead letter again.

Examples:
  barograph dead-letters replay              all of them
  barograph dead-letters replay 4711 4822    these two`

export function addDeadLettersCommand(program: Command, client: AdminClient, streams: Streams): void {
  const command = program.command('dead-letters').description('list and replay readings that QuestDB rejected')
  command
    .command('list')
    .description('list rejected readings with the reasons')
    .option('--json', 'print as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ json }: { json?: boolean }) => {
      const letters = await readAll(client)
      if (json === true) printJson(streams, letters)
      else if (letters.length === 0) printText(streams.stdout, 'no dead letters\n')
      else printTable(streams, [['id', 'device', 'time', 'values', 'reason'], ...letters.map(rowOf)])
    })
  command
    .command('replay')
    .description('send rejected readings again: all, or those with these ids')
    .argument('[id...]', 'ids of dead letters', collectId)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', replayHelp)
    .action(async (ids: number[], { json }: { json?: boolean }) => {
      const body = ids.length === 0 ? {} : { ids }
      const { replayed } = await client.json(Replayed, 'POST', '/dead-letters/replay', body)
      if (json === true) printJson(streams, { replayed })
      else printText(streams.stdout, `replayed ${replayed} readings\n`)
    })
}

async function readAll(client: AdminClient): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = []
  for (let query = ''; ; ) {
    const page = await client.json(DeadLetterPage, 'GET', `/dead-letters${query}`)
    letters.push(...page.dead_letters)
    if (page.next === null) return letters
    query = `?after=${page.next}`
  }
}

function rowOf({ id, symbol, time, values, reason }: DeadLetter): string[] {
  const present = Object.entries(values).filter(([, value]) => value !== null)
  return [String(id), symbol, time, present.map(([name, value]) => `${name}=${value}`).join(' '), reason]
}

function collectId(text: string, earlier: number[] = []): number[] {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('An id must be a whole number; see dead-letters list.')
  return [...earlier, Number(text)]
}
