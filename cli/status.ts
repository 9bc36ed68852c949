/** `barograph status`: the state of the service. */

import type { Command } from 'commander'
import { Status } from '../api/admin/status.ts'
import type { AdminClient } from './admin-client.ts'
import { bytesText, printJson, printTable, type Streams } from './output.ts'

export function addStatusCommand(program: Command, client: AdminClient, streams: Streams): void {
  program
    .command('status')
    .description('show versions, databases, journal, lag and disk space of the server')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExamples:\n  barograph status\n  barograph status --json | jq .lag.seconds')
    .action(async ({ json }: { json?: boolean }) => {
      const status = await client.json(Status, 'GET', '/status')
      if (json === true) printJson(streams, status)
      else printTable(streams, rowsOf(status, client.url()))
    })
}

function rowsOf(status: Status, url: string): string[][] {
  const { versions, questdb, postgres, journal, lag, disk } = status
  const rows = [
    ['server', `${url}, up for ${durationText(status.uptime_s)}, Node ${versions.node}`],
    ['devices', String(status.devices)],
    ['QuestDB', databaseText(questdb)],
    ['PostgreSQL', databaseText(postgres)],
    ['journal', `${bytesText(journal.bytes)} of ${bytesText(journal.bytes_max)}`],
    ['readings', `${journal.readings} accepted since the start`],
    ['lag', lag.readings === 0 ? 'none' : `${lag.readings} readings, ${lag.seconds.toFixed(1)} s`],
    ['dead letters', String(status.dead_letters)],
    ['disk', `${bytesText(disk.free_bytes)} free of ${bytesText(disk.total_bytes)} at ${disk.path}`],
  ]
  if (questdb.suspended)
    rows.push([
      'problem',
      'QuestDB has suspended the table: readings wait in the journal and are not visible to queries',
    ])
  if (questdb.fault !== null) rows.push(['problem', questdb.fault])
  if (journal.fault !== null) rows.push(['problem', journal.fault])
  if (journal.damaged_bytes > 0) {
    rows.push([
      'problem',
      `${bytesText(journal.damaged_bytes)} of the journal are corrupted; see quarantine-* in the journal directory`,
    ])
  }
  return rows
}

function databaseText({ kind, state, reason, version }: Status['postgres']): string {
  const what = `${kind === 'own' ? 'managed' : 'external'}, ${state}${reason === null ? '' : ` (${reason})`}`
  return version === null ? what : `${version}, ${what}`
}

function durationText(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`
}
