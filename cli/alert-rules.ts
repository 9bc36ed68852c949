/** `barograph alerts rules`: manages rules. */

import { type Command, Option } from 'commander'
import { z } from 'zod'
import { PreviewAnswer } from '../alerts/core/preview-answer.ts'
import { type Severity, severities } from '../alerts/core/rule.ts'
import { RuleDetails, RuleList } from '../api/alerts/rules.ts'
import type { AdminClient } from './admin-client.ts'
import { jsonObject, listAll, recordId, recordIds, type SelectorOptions, seconds, selectorOf } from './alert-options.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { countUpTo } from './option-values.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface RuleOptions extends SelectorOptions {
  name?: string
  condition?: Record<string, unknown>
  for?: number
  keepFiring?: number
  severity?: Severity
  channel?: number[]
  channels?: false
  groupBy?: string
  note?: string
  enable?: boolean
  disable?: boolean
  json?: boolean
}

export function defineAlertRules(rules: Command, { apiClient, streams }: CommandContext): void {
  addList(rules, apiClient, streams)
  addAdd(rules, apiClient, streams)
  addSet(rules, apiClient, streams)
  addPreview(rules, apiClient, streams)
  addRemove(rules, apiClient, streams)
}

function addOptions(command: Command): Command {
  return command
    .option('--condition <json>', 'when it fires', jsonObject)
    .option('--device <name...>', 'of these devices')
    .option('--tag <tag...>', 'of devices with all these tags; key:* stands for any value')
    .option('--all', 'of all devices')
    .option('--for <duration>', 'only when it has been so for so long, such as 15m', seconds)
    .option('--keep-firing <duration>', 'until it has been back for so long', seconds)
    .addOption(new Option('--severity <severity>', 'warning by default').choices(severities))
    .option('--channel <id>', 'who is notified; may be given several times', recordIds)
    .option('--group-by <key>', 'key of a tag: one notification for each of its values')
    .option('--note <text>', 'what to do; it is shown in notifications')
}

const conditionHelp = `
Conditions:
  {"kind":"silent"}                                              as the fleet page shows it, or with "after_seconds"
  {"kind":"above","metric":"temperature","value":-15,"hysteresis":1}      or "below"
  {"kind":"change","metric":"pressure","value":-3,"window_seconds":10800}
  {"kind":"battery","metric":"battery_percentage","value":20}    or {"kind":"battery","days":14}
  {"kind":"completeness","share":0.9}
  {"kind":"site_silent","share":0.5,"count":3}
  {"kind":"service","fact":"disk_full","days":7}

`

const addHelp = `${conditionHelp}Examples:
  barograph alerts rules add 'Freezer' --condition '{"kind":"above","metric":"temperature","value":-15}' --device freezer --for 10m --channel 1
  barograph alerts rules add 'Silent' --condition '{"kind":"silent"}' --all --channel 1 --channel 2`

function addAdd(rules: Command, client: AdminClient, streams: Streams): void {
  addOptions(rules.command('add').description('add a rule').argument('<name>'))
    .option('--disable', 'add it without evaluating it')
    .option('--json', 'print the rule as JSON')
    .addHelpText('after', addHelp)
    .action(async (name: string, options: RuleOptions) => {
      printRule(
        streams,
        await client.json(RuleDetails, 'POST', '/alert-rules', { name, ...fieldsOf(options) }),
        options,
      )
    })
}

const setHelp = `${conditionHelp}Examples:
  barograph alerts rules set 4 --for 30m
  barograph alerts rules set 4 --disable`

function addSet(rules: Command, client: AdminClient, streams: Streams): void {
  addOptions(rules.command('set').description('change a rule').argument('<id>', 'id of the rule', recordId))
    .option('--name <text>', 'name')
    .option('--no-channels', 'send no notifications')
    .option('--enable', 'evaluate it')
    .option('--disable', 'do not evaluate it; what fires by it is resolved')
    .option('--json', 'print the rule as JSON')
    .addHelpText('after', setHelp)
    .action(async (id: string, options: RuleOptions) => {
      const change = fieldsOf(options)
      if (Object.keys(change).length === 0) throw new CommandError('nothing to change; see --help', exitUsage)
      printRule(streams, await client.json(RuleDetails, 'PATCH', `/alert-rules/${id}`, change), options)
    })
}

const previewHelp = `${conditionHelp}Example:
  barograph alerts rules preview --condition '{"kind":"above","metric":"temperature","value":-15}' --device freezer --for 10m --days 90`

function addPreview(rules: Command, client: AdminClient, streams: Streams): void {
  addOptions(rules.command('preview').description('show how a rule would have behaved on the stored readings'))
    .option('--days <days>', 'up to now', countUpTo(366), 30)
    .option('--json', 'print as JSON')
    .addHelpText('after', previewHelp)
    .action(async ({ days, ...options }: RuleOptions & { days: number }) => {
      const from = new Date(Date.now() - days * 86_400_000).toISOString()
      const rule = { name: 'preview', ...fieldsOf(options) }
      const answer = await client.json(PreviewAnswer, 'POST', '/alert-rules/preview', { rule, from })
      if (options.json === true) printJson(streams, answer)
      else printPreview(streams, answer)
    })
}

function printPreview(streams: Streams, { supported, devices, devices_left_out, weeks }: PreviewAnswer): void {
  if (!supported) {
    printText(streams.stdout, 'stored readings say nothing of this condition\n')
    return
  }
  printTable(streams, [
    ['device', 'fires', 'longest'],
    ...devices.map(({ device, count, longest_seconds }) => [device ?? 'all', String(count), `${longest_seconds} s`]),
  ])
  if (devices_left_out > 0) printText(streams.stdout, `${devices_left_out} more devices were left out\n`)
  printText(streams.stdout, '\n')
  printTable(streams, [
    ['week', 'fires', 'with half of --for', 'with twice'],
    ...weeks.map(({ week, count, half, twice }) => [week, count, half, twice].map(String)),
  ])
}

function addList(rules: Command, client: AdminClient, streams: Streams): void {
  rules
    .command('list')
    .description('list the rules of all accounts')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts rules list --json')
    .action(async ({ json }: { json?: boolean }) => {
      const path = '/alert-rules?limit=1000'
      const found = await listAll(client, path, RuleList, ({ rules, next }) => ({ rows: rules, next }))
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no rules\n')
      else
        printTable(streams, [
          ['id', 'owner', 'severity', 'enabled', 'channels', 'name', 'condition'],
          ...found.map(rowOf),
        ])
    })
}

function rowOf({ id, owner, severity, enabled, channels, name, condition }: RuleDetails): string[] {
  const ids = channels.join(' ') || '-'
  return [
    String(id),
    owner === null ? '-' : String(owner),
    severity,
    enabled ? 'yes' : 'no',
    ids,
    name,
    JSON.stringify(condition),
  ]
}

function addRemove(rules: Command, client: AdminClient, streams: Streams): void {
  rules
    .command('remove')
    .description('remove a rule; what fires by it is resolved')
    .argument('<id>', 'id of the rule', recordId)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts rules remove 4')
    .action(async (id: string, { json }: { json?: boolean }) => {
      await client.json(z.undefined(), 'DELETE', `/alert-rules/${id}`)
      if (json === true) printJson(streams, { removed: Number(id) })
      else printText(streams.stdout, `removed rule ${id}\n`)
    })
}

/** Only what was said. */
function fieldsOf(options: RuleOptions): Record<string, unknown> {
  const { name, condition, keepFiring, severity, channel, channels, groupBy, note, enable, disable } = options
  const fields = {
    name,
    selector: selectorOf(options),
    condition,
    for_seconds: options.for,
    keep_firing_seconds: keepFiring,
    severity,
    channels: channel ?? (channels === false ? [] : undefined),
    group_by: groupBy === 'none' ? null : groupBy,
    enabled: disable === true ? false : enable === true ? true : undefined,
    note,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function printRule(streams: Streams, rule: RuleDetails, { json }: { json?: boolean }): void {
  if (json === true) printJson(streams, rule)
  else printFields(streams, rule)
}
