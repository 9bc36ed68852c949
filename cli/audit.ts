/** `barograph audit`: the audit log, newest first. */

import { Option } from 'commander'
import { AuditPage } from '../auth/audit-page.ts'
import { command, tableOf } from './operation-commands.ts'
import { countUpTo } from './option-values.ts'

const entriesMax = 100_000

export const defineAudit = command('', '', {
  options: [new Option('--limit <number>', 'how many entries').argParser(countUpTo(entriesMax)).default(100)],
  examples: ['audit', 'audit --limit 1000 --json'],
  async run({ limit }: { limit: number }, { client }) {
    // Entries are identified by id, because new ones move others to the next page.
    const found = new Map<number, AuditPage['entries'][number]>()
    for (let page: number | null = 1; page !== null && found.size < limit; ) {
      const answer: AuditPage = await client.json(AuditPage, 'GET', `/audit?page=${page}`)
      for (const entry of answer.entries) found.set(entry.id, entry)
      page = answer.next
    }
    const entries = [...found.values()].slice(0, limit)
    return {
      json: entries,
      text: tableOf(entries, [['time', 'at'], ['by', 'actor'], 'action', 'subject', 'details'], 'no entries'),
    }
  },
})
