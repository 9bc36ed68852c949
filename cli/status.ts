/** `barograph status`: the state of the service. */

import type { Command } from 'commander'
import { Status } from '../api/admin/status-answer.ts'
import type { CommandContext } from './command-context.ts'
import { diskText } from './disk-text.ts'
import { durationText } from './duration-text.ts'
import { replicaTexts, topicProblemsOf, topicText } from './kafka-text.ts'
import { nodeProblemsOf, nodeText } from './node-text.ts'
import { bytesText, printJson, printTable } from './output.ts'
import { retentionProblems, retentionText } from './retention-text.ts'
import { problemsOf, type WritePath, waitingText, writePathsOf } from './write-paths.ts'

export function defineStatus(command: Command, { client, streams }: CommandContext): void {
  command
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExamples:\n  barograph status\n  barograph status --json | jq .lag.seconds')
    .action(async ({ json }: { json?: boolean }) => {
      const status = await client.json(Status, 'GET', '/status')
      if (json === true) printJson(streams, status)
      else printTable(streams, rowsOf(status, client.url()))
    })
}

function rowsOf(status: Status, url: string): string[][] {
  const { versions, questdb, postgres, disk, retention, kafka, nodes } = status
  const writePaths = writePathsOf(status)
  const problemsOfAll = [
    ...nodeProblemsOf(nodes),
    ...writePaths.flatMap(problemsOf),
    ...topicProblemsOf(kafka),
    ...retentionProblems(retention),
    ...(status.set_aside ?? []).map(({ problem }) => problem),
  ]
  return [
    [
      'server',
      `Barograph ${versions.barograph} at ${url}, up for ${durationText(status.uptime_s)}, Node ${versions.node}`,
    ],
    ...(nodes ?? []).map(node => [`node ${node.id}`, nodeText(node)]),
    ['devices', String(status.devices)],
    ['QuestDB', databaseText(questdb)],
    ['PostgreSQL', databaseText(postgres)],
    ...writePaths.flatMap(writePathRows),
    ...(kafka?.topics ?? []).map(topic => [`topic ${topic.topic}`, topicText(topic)]),
    ...replicaTexts(kafka),
    ...(retention.days === null ? [] : [['retention', retentionText(retention)]]),
    ['disk', diskText(disk)],
    ...problemsOfAll.map(problem => ['problem', problem]),
  ]
}

function writePathRows(path: WritePath): string[][] {
  const { rows, journal, accepted, deadLetters } = path
  return [
    [rows, `${accepted} accepted since the start, ${waitingText(path)}, ${deadLetters} dead letters`],
    [`journal of ${rows}`, `${bytesText(journal.bytes)} of ${bytesText(journal.bytes_max)}`],
  ]
}

function databaseText({ kind, state, reason, version }: Status['postgres']): string {
  const what = `${kind === 'own' ? 'managed' : 'external'}, ${state}${reason === null ? '' : ` (${reason})`}`
  return version === null ? what : `${version}, ${what}`
}
