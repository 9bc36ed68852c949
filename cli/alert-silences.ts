/** `barograph alerts silences`: manages times in which alerts fire without notifications. */

import { Silence } from '../alerts/core/silence.ts'
import { SilenceList } from '../api/alerts/silences.ts'
import { type SelectorOptions, selectorOf } from './alert-options.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { commands, list, operation, removal } from './operation-commands.ts'
import { recordNumber, seconds } from './option-values.ts'

interface AddOptions extends SelectorOptions {
  for?: number
  until?: string
  rule?: number
}

export const defineAlertSilences = commands(
  list('list', 'list the silences of all accounts', {
    examples: ['alerts silences list'],
    send: 'GET /silences?limit=1000',
    answer: SilenceList,
    none: 'no silences',
    columns: [
      'id',
      ['active', 'is_active'],
      'from',
      'until',
      ['rule', 'rule_id'],
      'selector',
      ['reason', ({ reason }) => reason],
    ],
  }),
  operation('add', 'add a silence', {
    options: [
      ['--device <name...>', 'of alerts of these devices'],
      ['--tag <tag...>', 'of alerts of devices with all these tags; key:* stands for any value'],
      ['--all', 'of all alerts'],
      ['--rule <id>', 'only of alerts of this rule', recordNumber],
      ['--for <duration>', 'from now on, such as 2h', seconds],
      ['--from <time>', 'ISO 8601 with a zone'],
      ['--until <time>', 'ISO 8601 with a zone'],
      ['--weekly <json>', 'windows of each week', jsonArray],
      ['--reason <text>', 'why'],
    ],
    json: 'print the silence as JSON',
    help: 'Times have a zone. Weekly windows are in the time zone of the service; days are 1 (Monday) to 7.',
    examples: [
      "alerts silences add --device freezer --for 2h --reason 'defrosting'",
      'alerts silences add --tag site:berlin --from 2026-12-24T00:00:00Z --until 2027-01-02T00:00:00Z',
      `alerts silences add --all --weekly '[{"days":[6,7],"from":"22:00","until":"06:00"}]' --rule 4`,
    ],
    send: 'POST /silences',
    fields: { rule: 'rule_id' },
    body({ device, tag, all, for: lastsSeconds, until, ...fields }: AddOptions) {
      const selector = selectorOf({ device, tag, all })
      if (selector === undefined)
        throw new CommandError('name the alerts to silence: --device, --tag or --all', exitUsage)
      const end = lastsSeconds === undefined ? until : new Date(Date.now() + lastsSeconds * 1000).toISOString()
      return { ...fields, selector, until: end }
    },
    answer: Silence,
  }),
  removal('remove', 'end a silence', {
    arguments: [['<id>', 'id of the silence', recordNumber]],
    examples: ['alerts silences remove 3'],
    send: 'DELETE /silences/:id',
    text: ({ id }) => `removed silence ${id}`,
  }),
)

function jsonArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return value
  } catch {
    // The error is thrown below.
  }
  throw new CommandError('expected a JSON array of weekly windows', exitUsage)
}
