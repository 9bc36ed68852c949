/** `barograph alerts rules`: manages rules. */

import { readFileSync, writeFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { Option } from 'commander'
import { PreviewAnswer } from '../alerts/core/preview-answer.ts'
import { severities } from '../alerts/core/rule.ts'
import { RuleFile } from '../api/alerts/rule-file.ts'
import { ImportedRules } from '../api/alerts/rule-import.ts'
import { RuleDetails, RuleList } from '../api/alerts/rules.ts'
import { withFile } from './command-error.ts'
import { command, commands, list, operation, type Part, removal } from './operation-commands.ts'
import {
  countUpTo,
  jsonObject,
  jsonObjectOf,
  recordNumber,
  recordNumbers,
  type SelectorOptions,
  seconds,
  selectorOf,
  textOrNone,
} from './option-values.ts'
import { printText } from './output.ts'

const id = ['<id>', 'id of the rule', recordNumber] as const
const options = [
  ['--condition <json>', 'when it fires', jsonObject],
  ['--device <name...>', 'of these devices'],
  ['--tag <tag...>', 'of devices with all these tags; key:* stands for any value'],
  ['--all', 'of all devices'],
  ['--for <duration>', 'only when it has been so for so long, such as 15m', seconds],
  ['--keep-firing <duration>', 'until it has been back for so long', seconds],
  ['--severity <severity>', 'warning by default', severities],
  ['--channel <id>', 'who is notified; may be given several times', recordNumbers],
  ['--group-by <key>', 'key of a tag: one notification for each of its values', textOrNone],
  ['--note <text>', 'what to do; it is shown in notifications'],
] as const
const fields = { for: 'for_seconds', keep_firing: 'keep_firing_seconds' }
const help = `Conditions:
  {"kind":"silent"}                                              as the fleet page shows it, or with "after_seconds"
  {"kind":"above","metric":"temperature","value":-15,"hysteresis":1}      or "below"
  {"kind":"change","metric":"pressure","value":-3,"window_seconds":10800}
  {"kind":"battery","metric":"battery_percentage","value":20}    or {"kind":"battery","days":14}
  {"kind":"completeness","share":0.9}
  {"kind":"site_silent","share":0.5,"count":3}
  {"kind":"service","fact":"disk_full","days":7}`
const freezer = `--condition '{"kind":"above","metric":"temperature","value":-15}' --device freezer --for 10m`

interface RuleFields extends SelectorOptions {
  channel?: number[]
  /** False with --no-channels. */
  channels?: boolean
  enable?: true
  disable?: true
}

export const defineAlertRules = commands(
  list('list', 'list the rules of all accounts', {
    examples: ['alerts rules list --json'],
    send: 'GET /alert-rules?limit=1000',
    answer: RuleList,
    none: 'no rules',
    columns: ['id', 'owner', 'severity', 'enabled', 'channels', 'name', 'condition'],
  }),
  operation('add', 'add a rule', {
    arguments: [['<name>']],
    options: [...options, ['--disable', 'add it without evaluating it']],
    json: 'print the rule as JSON',
    help,
    examples: [
      `alerts rules add 'Freezer' ${freezer} --channel 1`,
      `alerts rules add 'Silent' --condition '{"kind":"silent"}' --all --channel 1 --channel 2`,
    ],
    send: 'POST /alert-rules',
    fields,
    body: ruleOf,
    answer: RuleDetails,
  }),
  operation('set', 'change a rule', {
    arguments: [id],
    options: [
      ...options,
      ['--name <text>', 'name'],
      ['--no-channels', 'send no notifications'],
      ['--enable', 'evaluate it'],
      ['--disable', 'do not evaluate it; what fires by it is resolved'],
    ],
    json: 'print the rule as JSON',
    help,
    examples: ['alerts rules set 4 --for 30m', 'alerts rules set 4 --disable'],
    send: 'PATCH /alert-rules/:id',
    fields,
    body: ruleOf,
    answer: RuleDetails,
  }),
  operation('preview', 'show how a rule would have behaved on the stored readings', {
    options: [...options, new Option('--days <days>', 'up to now').argParser(countUpTo(366)).default(30)],
    help,
    examples: [`alerts rules preview ${freezer} --days 90`],
    send: 'POST /alert-rules/preview',
    fields,
    body: ({ days, ...fields }: RuleFields & { days: number }) => ({
      rule: { name: 'preview', ...ruleOf(fields) },
      from: new Date(Date.now() - days * 86_400_000).toISOString(),
    }),
    answer: PreviewAnswer,
    text: previewText,
  }),
  removal('remove', 'remove a rule; what fires by it is resolved', {
    arguments: [id],
    examples: ['alerts rules remove 4'],
    send: 'DELETE /alert-rules/:id',
    text: ({ id }) => `removed rule ${id}`,
  }),
)

function ruleOf({ device, tag, all, channel, channels, enable, disable, ...fields }: RuleFields): object {
  return {
    ...fields,
    selector: selectorOf({ device, tag, all }),
    channels: channels === false ? (channel ?? []) : channel,
    enabled: disable === true ? false : enable,
  }
}

function previewText({ supported, devices, devices_left_out, weeks }: PreviewAnswer): Part[] {
  if (!supported) return ['stored readings say nothing of this condition']
  return [
    [
      ['device', 'fires', 'longest'],
      ...devices.map(({ device, count, longest_seconds }) => [device ?? 'all', String(count), `${longest_seconds} s`]),
    ],
    ...(devices_left_out > 0 ? [`${devices_left_out} more devices were left out`] : []),
    '',
    [
      ['week', 'fires', 'with half of --for', 'with twice'],
      ...weeks.map(({ week, count, half, twice }) => [week, count, half, twice].map(String)),
    ],
  ]
}

/** `barograph alerts export` and `import`: the rules of the service as a file. */
export const defineAlertFile = commands(
  command('export', 'write the rules of the service as JSON', {
    options: [['--output <file>', 'file in place of standard output']],
    json: false,
    help: 'The file has no ids and no secrets: channels stand in it by their names.',
    examples: ['alerts export > rules.json', 'alerts export --output rules.json'],
    async run({ output }: { output?: string }, { apiClient, streams }) {
      const file = `${JSON.stringify(await apiClient.json(RuleFile, 'GET', '/alert-rules/export'), undefined, 2)}\n`
      if (output === undefined) printText(streams.stdout, file)
      else withFile(output, 'written', () => writeFileSync(output, file))
      return undefined
    },
  }),
  operation('import', 'replace the rules of the service by the rules of a file', {
    arguments: [['<file>', 'of export, or - for standard input']],
    options: [['--prune', 'remove rules that are not in the file']],
    json: 'print the result as JSON',
    help: `Names identify rules. All of the file is imported, or nothing, so the same file changes nothing the second time. Its channels
have to exist.`,
    examples: ['alerts import rules.json', 'alerts import rules.json --prune'],
    send: 'POST /alert-rules/import',
    query: ['prune'],
    async body({ file }: { file: string }, { streams }) {
      const text = file === '-' ? await textOf(streams.stdin) : withFile(file, 'read', () => readFileSync(file, 'utf8'))
      return jsonObjectOf(file, text)
    },
    answer: ImportedRules,
    text: ({ added, changed, unchanged, removed }) => [
      `${added} added, ${changed} changed, ${unchanged} unchanged, ${removed} removed`,
    ],
  }),
)
