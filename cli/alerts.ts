/** `barograph alerts`: shows and acknowledges alerts. The groups of commands below it manage rules, channels and silences. */

import { Alert, AlertDetails, alertStates } from '../alerts/core/alert.ts'
import { severities } from '../alerts/core/rule.ts'
import { AlertPage } from '../api/alerts/alerts.ts'
import { defineAlertChannels } from './alert-channels.ts'
import { defineAlertDeliveries } from './alert-deliveries.ts'
import { defineAlertFile } from './alert-file.ts'
import { defineAlertRules } from './alert-rules.ts'
import { defineAlertSilences } from './alert-silences.ts'
import { commands, group, list, operation } from './operation-commands.ts'
import { recordId } from './option-values.ts'

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
