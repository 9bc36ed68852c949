/** `barograph dead-letters`: lists, replays and discards readings and points that QuestDB rejected. */

import { InvalidArgumentError, Option } from 'commander'
import {
  type DamagedLetter,
  type DeadLetter,
  DeadLetterPage,
  Discarded,
  type LetterTable,
  letterTables,
  RejectionPage,
  Replayed,
} from '../api/admin/answers.ts'
import { rejectionWays } from '../ingest/rejections/rejection.ts'
import { entriesMax } from '../ingest/rejections/rejection-ring.ts'
import type { AdminClient } from './admin-client.ts'
import { command, commands, operation, tableOf } from './operation-commands.ts'
import { countUpTo } from './option-values.ts'
import { printText } from './output.ts'

type Letter = DeadLetter | DamagedLetter

const ofTable = ['--table <table>', 'the table that the ids are of (default: readings)', letterTables] as const

export const defineDeadLetters = commands(
  command('list', 'list rejected rows with the reasons', {
    options: [['--table <table>', 'dead letters of this table only', letterTables]],
    examples: ['dead-letters list', 'dead-letters list --table points', "dead-letters list --json | jq '.[].reason'"],
    async run({ table }: { table?: LetterTable }, { client }) {
      const letters: Letter[] = []
      for (const each of table === undefined ? letterTables : [table]) letters.push(...(await readAll(client, each)))
      const heads = ['table', 'id', 'series', 'time', 'values', 'reason']
      return { json: letters, text: letters.length === 0 ? ['no dead letters'] : [[heads, ...letters.map(rowOf)]] }
    },
  }),
  command('replay', 'send rejected rows again: all, or those with these ids', {
    arguments: [['[id...]', 'ids of dead letters', collectId]],
    options: [ofTable],
    json: 'print the result as JSON',
    help: 'A row that is rejected again becomes a dead letter again. Damaged dead letters are skipped.',
    examples: [
      'dead-letters replay                          all of both tables',
      'dead-letters replay 4711 4822                these two readings',
      'dead-letters replay 4711 --table points      this point',
    ],
    async run({ id, table, json }: { id: number[]; table?: LetterTable; json?: true }, { client, streams }) {
      const ids = id.length === 0 ? undefined : id
      const result = await client.json(Replayed, 'POST', '/dead-letters/replay', { table, ids })
      const { replayed, damaged } = result
      if (json === undefined && damaged > 0) {
        printText(streams.stderr, `skipped ${damaged} damaged dead letters: see barograph dead-letters list\n`)
      }
      return { json: result, text: [`replayed ${replayed} dead letters`] }
    },
  }),
  operation('discard', 'delete rejected rows permanently', {
    arguments: [['<id...>', 'ids of dead letters', collectId]],
    options: [ofTable],
    json: 'print the result as JSON',
    help: 'Their rows were acknowledged and are stored nowhere else.',
    examples: ['dead-letters discard 4711 --table points'],
    send: 'POST /admin/dead-letters/discard',
    fields: { id: 'ids' },
    answer: Discarded,
    text: ({ discarded }) => [`discarded ${discarded} dead letters`],
  }),
)

async function readAll(client: AdminClient, table: LetterTable): Promise<Letter[]> {
  const letters: Letter[] = []
  for (let after = ''; ; ) {
    const page = await client.json(DeadLetterPage, 'GET', `/dead-letters?table=${table}${after}`)
    letters.push(...page.dead_letters, ...page.damaged)
    if (page.next === null) return letters
    after = `&after=${page.next}`
  }
}

function rowOf(letter: Letter): string[] {
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

/** `barograph rejections`: readings that were not taken, newest first. */
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
