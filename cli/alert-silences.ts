/** `barograph alerts silences`: manages times in which alerts fire without notifications. */

import type { Command } from 'commander'
import { z } from 'zod'
import { Silence } from '../alerts/core/silence.ts'
import { SilenceList } from '../api/alerts/silences.ts'
import type { AdminClient } from './admin-client.ts'
import { listAll, recordId, type SelectorOptions, seconds, selectorOf } from './alert-options.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface AddOptions extends SelectorOptions {
  for?: number
  from?: string
  until?: string
  weekly?: unknown[]
  rule?: string
  reason?: string
  json?: boolean
}

export function defineAlertSilences(silences: Command, { apiClient, streams }: CommandContext): void {
  addList(silences, apiClient, streams)
  addAdd(silences, apiClient, streams)
  addRemove(silences, apiClient, streams)
}

const addHelp = `
Times have a zone. Weekly windows are in the time zone of the service; days are 1 (Monday) to 7.

Examples:
  barograph alerts silences add --device freezer --for 2h --reason 'defrosting'
  barograph alerts silences add --tag site:berlin --from 2026-12-24T00:00:00Z --until 2027-01-02T00:00:00Z
  barograph alerts silences add --all --weekly '[{"days":[6,7],"from":"22:00","until":"06:00"}]' --rule 4`

function addAdd(silences: Command, client: AdminClient, streams: Streams): void {
  silences
    .command('add')
    .description('add a silence')
    .option('--device <name...>', 'of alerts of these devices')
    .option('--tag <tag...>', 'of alerts of devices with all these tags; key:* stands for any value')
    .option('--all', 'of all alerts')
    .option('--rule <id>', 'only of alerts of this rule', recordId)
    .option('--for <duration>', 'from now on, such as 2h', seconds)
    .option('--from <time>', 'ISO 8601 with a zone')
    .option('--until <time>', 'ISO 8601 with a zone')
    .option('--weekly <json>', 'windows of each week', jsonArray)
    .option('--reason <text>', 'why')
    .option('--json', 'print the silence as JSON')
    .addHelpText('after', addHelp)
    .action(async (options: AddOptions) => {
      const selector = selectorOf(options)
      if (selector === undefined)
        throw new CommandError('name the alerts to silence: --device, --tag or --all', exitUsage)
      const { from, weekly, rule, reason, json } = options
      const until = options.for === undefined ? options.until : new Date(Date.now() + options.for * 1000).toISOString()
      const rule_id = rule === undefined ? undefined : Number(rule)
      const added = await client.json(Silence, 'POST', '/silences', { selector, rule_id, from, until, weekly, reason })
      if (json === true) printJson(streams, added)
      else printFields(streams, added)
    })
}

function addList(silences: Command, client: AdminClient, streams: Streams): void {
  silences
    .command('list')
    .description('list the silences of all accounts')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts silences list')
    .action(async ({ json }: { json?: boolean }) => {
      const path = '/silences?limit=1000'
      const found = await listAll(client, path, SilenceList, ({ silences, next }) => ({ rows: silences, next }))
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no silences\n')
      else printTable(streams, [['id', 'active', 'from', 'until', 'rule', 'selector', 'reason'], ...found.map(rowOf)])
    })
}

function rowOf({ id, is_active, from, until, rule_id, selector, reason }: Silence): string[] {
  const rule = rule_id === null ? '-' : String(rule_id)
  return [String(id), is_active ? 'yes' : 'no', from, until ?? '-', rule, JSON.stringify(selector), reason]
}

function addRemove(silences: Command, client: AdminClient, streams: Streams): void {
  silences
    .command('remove')
    .description('end a silence')
    .argument('<id>', 'id of the silence', recordId)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts silences remove 3')
    .action(async (id: string, { json }: { json?: boolean }) => {
      await client.json(z.undefined(), 'DELETE', `/silences/${id}`)
      if (json === true) printJson(streams, { removed: Number(id) })
      else printText(streams.stdout, `removed silence ${id}\n`)
    })
}

function jsonArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return value
  } catch {
    // Told below.
  }
  throw new CommandError('expected a JSON array of weekly windows', exitUsage)
}
