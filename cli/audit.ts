/** `barograph audit`: who did what, newest first. */

import type { Command } from 'commander'
import { AuditPage } from '../auth/audit-page.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { countUpTo } from './option-values.ts'
import { printJson, printTable, printText } from './output.ts'

type Entry = AuditPage['entries'][number]

const entriesMax = 100_000

export function defineAudit(command: Command, { client, streams }: CommandContext): void {
  command
    .option('--limit <number>', 'how many entries', countUpTo(entriesMax), 100)
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExamples:\n  barograph audit\n  barograph audit --limit 1000 --json')
    .action(async ({ limit, json }: { limit: number; json?: boolean }) => {
      const found = await readNewest(client, limit)
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no entries\n')
      else printTable(streams, [['time', 'by', 'action', 'subject', 'details'], ...found.map(rowOf)])
    })
}

async function readNewest(client: AdminClient, limit: number): Promise<Entry[]> {
  // By id: entries that are written meanwhile move others to the next page.
  const found = new Map<number, Entry>()
  for (let page: number | null = 1; page !== null && found.size < limit; ) {
    const answer: AuditPage = await client.json(AuditPage, 'GET', `/audit?page=${page}`)
    for (const entry of answer.entries) found.set(entry.id, entry)
    page = answer.next
  }
  return [...found.values()].slice(0, limit)
}

function rowOf({ at, actor, action, subject, details }: Entry): string[] {
  return [at, actor, action, subject === '' ? '-' : subject, JSON.stringify(details)]
}
