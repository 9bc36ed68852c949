/** `barograph alerts`: shows and acknowledges alerts. The groups of commands below it manage rules, channels and silences. */

import { Alert, AlertDetails, alertStates } from '../alerts/core/alert.ts'
import { severities } from '../alerts/core/rule.ts'
import { Silence } from '../alerts/core/silence.ts'
import { AlertPage } from '../api/alerts/alerts.ts'
import { SilenceList } from '../api/alerts/silences.ts'
import { defineAlertChannels, defineAlertDeliveries } from './alert-channels.ts'
import { defineAlertFile, defineAlertRules } from './alert-rules.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { commands, group, list, operation, removal } from './operation-commands.ts'
import { recordId, recordNumber, type SelectorOptions, seconds, selectorOf } from './option-values.ts'

/** `barograph alerts silences`: manages times in which alerts fire without notifications. */
const defineAlertSilences = commands(
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

const id = ['<id>', 'id of the alert', recordId] as const

export const defineAlerts = commands(
  list('list', 'list alerts, newest first', {
    options: [
      ['--state <state>', 'only these', alertStates],
      ['--severity <severity>', 'only these', severities],
      ['--device <name>', 'alerts of this device only'],
      ['--tag <tag...>', 'alerts of devices with all these tags only'],
      ['--rule <id>', 'alerts of this rule only', recordId],
    ],
    examples: ['alerts list', 'alerts list --state firing --severity critical', 'alerts list --tag site:berlin --json'],
    send: 'GET /alerts?limit=1000',
    answer: AlertPage,
    none: 'no alerts',
    columns: [
      'id',
      ['state', stateOf],
      'severity',
      ['since', ({ fired_at, opened_at }) => fired_at ?? opened_at],
      'device',
      'rule',
      'value',
    ],
  }),
  operation('show', 'show an alert with its history', {
    arguments: [id],
    examples: ['alerts show 4711'],
    send: 'GET /alerts/:id',
    answer: AlertDetails,
    text: ({ events, ...fields }) => [
      fields,
      '',
      events.map(({ at, kind, details }) => [
        at,
        kind,
        Object.keys(details).length === 0 ? '' : JSON.stringify(details),
      ]),
    ],
  }),
  operation('acknowledge', 'acknowledge an alert: notifications are not repeated from then on', {
    arguments: [id],
    json: 'print the alert as JSON',
    examples: ['alerts acknowledge 4711'],
    send: 'POST /alerts/:id/acknowledge',
    answer: Alert,
    text: (_, { id }) => [`acknowledged ${id}`],
  }),
  group('rules', 'manage rules', defineAlertRules),
  group('channels', 'manage where notifications go', defineAlertChannels),
  group('silences', 'manage silences', defineAlertSilences),
  group('deliveries', 'show notifications and send them again', defineAlertDeliveries),
  defineAlertFile,
)

function stateOf({ state, flapping, acknowledged_at, silenced_by }: Alert): string {
  const marks = [
    flapping ? ', flapping' : '',
    acknowledged_at === null ? '' : ', acknowledged',
    silenced_by === null ? '' : ', silenced',
  ]
  return `${state}${marks.join('')}`
}

interface AddOptions extends SelectorOptions {
  for?: number
  until?: string
  rule?: number
}
