/** `barograph alerts`: shows and acknowledges alerts; what they come of is managed by the commands below it. */

import { type Command, Option } from 'commander'
import { Alert, AlertDetails, alertStates } from '../alerts/core/alert.ts'
import { severities } from '../alerts/core/rule.ts'
import { AlertPage } from '../api/alerts/alerts.ts'
import type { AdminClient } from './admin-client.ts'
import { defineAlertChannels } from './alert-channels.ts'
import { defineAlertDeliveries } from './alert-deliveries.ts'
import { defineAlertFile } from './alert-file.ts'
import { listAll, recordId } from './alert-options.ts'
import { defineAlertRules } from './alert-rules.ts'
import { defineAlertSilences } from './alert-silences.ts'
import type { CommandContext } from './command-context.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

interface ListOptions extends Json {
  state?: string
  severity?: string
  device?: string
  tag?: string[]
  rule?: string
}

export function defineAlerts(alerts: Command, context: CommandContext): void {
  const { apiClient, streams } = context
  addList(alerts, apiClient, streams)
  addShow(alerts, apiClient, streams)
  addAcknowledge(alerts, apiClient, streams)
  defineAlertRules(alerts.command('rules').description('manage rules'), context)
  defineAlertChannels(alerts.command('channels').description('manage where notifications go'), context)
  defineAlertSilences(alerts.command('silences').description('manage silences'), context)
  defineAlertDeliveries(alerts.command('deliveries').description('show notifications and send them again'), context)
  defineAlertFile(alerts, context)
}

const listHelp = `
Examples:
  barograph alerts list
  barograph alerts list --state firing --severity critical
  barograph alerts list --tag site:berlin --json`

function addList(alerts: Command, client: AdminClient, streams: Streams): void {
  alerts
    .command('list')
    .description('list alerts, newest first')
    .addOption(new Option('--state <state>', 'only these').choices(alertStates))
    .addOption(new Option('--severity <severity>', 'only these').choices(severities))
    .option('--device <name>', 'alerts of this device only')
    .option('--tag <tag...>', 'alerts of devices with all these tags only')
    .option('--rule <id>', 'alerts of this rule only', recordId)
    .option('--json', 'print as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ json, tag = [], ...said }: ListOptions) => {
      const query = new URLSearchParams({ limit: '1000', ...said })
      for (const one of tag) query.append('tag', one)
      const found = await listAll(client, `/alerts?${query}`, AlertPage, ({ alerts, next }) => ({ rows: alerts, next }))
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no alerts\n')
      else printTable(streams, [['id', 'state', 'severity', 'since', 'device', 'rule', 'value'], ...found.map(rowOf)])
    })
}

function rowOf(alert: Alert): string[] {
  const { id, state, flapping, severity, fired_at, opened_at, device, rule, value, acknowledged_at, silenced_by } =
    alert
  const marks = [
    state,
    ...(flapping ? ['flapping'] : []),
    ...(acknowledged_at === null ? [] : ['acknowledged']),
    ...(silenced_by === null ? [] : ['silenced']),
  ]
  return [
    id,
    marks.join(', '),
    severity,
    fired_at ?? opened_at,
    device ?? '-',
    rule,
    value === null ? '-' : String(value),
  ]
}

function addShow(alerts: Command, client: AdminClient, streams: Streams): void {
  alerts
    .command('show')
    .description('show an alert with its history')
    .argument('<id>', 'id of the alert', recordId)
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts show 4711')
    .action(async (id: string, { json }: Json) => {
      const alert = await client.json(AlertDetails, 'GET', `/alerts/${id}`)
      if (json === true) {
        printJson(streams, alert)
        return
      }
      const { events, ...fields } = alert
      printFields(streams, fields)
      printText(streams.stdout, '\n')
      printTable(
        streams,
        events.map(({ at, kind, details }) => [
          at,
          kind,
          Object.keys(details).length === 0 ? '' : JSON.stringify(details),
        ]),
      )
    })
}

function addAcknowledge(alerts: Command, client: AdminClient, streams: Streams): void {
  alerts
    .command('acknowledge')
    .description('acknowledge an alert: notifications are not repeated from then on')
    .argument('<id>', 'id of the alert', recordId)
    .option('--json', 'print the alert as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts acknowledge 4711')
    .action(async (id: string, { json }: Json) => {
      const alert = await client.json(Alert, 'POST', `/alerts/${id}/acknowledge`)
      if (json === true) printJson(streams, alert)
      else printText(streams.stdout, `acknowledged ${id}\n`)
    })
}
