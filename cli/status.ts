/** `barograph status`: the state of the service. */

import { Status } from '../api/admin/status-answer.ts'
import { command } from './operation-commands.ts'
import { bytesText } from './output.ts'
import {
  diskText,
  durationText,
  nodeProblemsOf,
  nodeText,
  problemsOf,
  replicaTexts,
  retentionProblems,
  retentionText,
  topicProblemsOf,
  topicText,
  type WritePath,
  waitingText,
  writePathsOf,
} from './status-text.ts'

export const defineStatus = command('', '', {
  examples: ['status', 'status --json | jq .lag.seconds'],
  async run(_, { client }) {
    const status = await client.json(Status, 'GET', '/status')
    return { json: status, text: [rowsOf(status, client.url())] }
  },
})

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
