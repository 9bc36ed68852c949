/** `barograph import --state` resumes a killed import. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startAnswering } from '../support/answering-server.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'

const header = 'timestamp,device,temperature,humidity,pressure\n'
const linesOfFile = 27_000
const folder = temporaryFolder(t)
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, 'token')

/** Stands in for a service: it reports received lines, answers some requests, and refuses the next or never answers it. */
async function startServer(t: Test) {
  const received: string[] = []
  const open = { answers: 0, isRefusing: false }
  const { url } = await startAnswering(t, ({ body }) => {
    const [, first = '', ...others] = body.trimEnd().split('\n')
    received.push(`${first.slice(0, 20)} ${others.length + 1}`)
    if (open.answers-- <= 0) return open.isRefusing ? { status: 400, text: '{"title":"refused"}' } : undefined
    const counts = { accepted: others.length + 1, replaced: 0, rejected: 0 }
    return { text: JSON.stringify({ ...counts, rejects: [], rejects_truncated: false, ignored_columns: [] }) }
  })
  return { received, open, url }
}

const wordsOf = (url: string, words: string[]) => [
  '--url',
  url,
  '--token-file',
  tokenFile,
  'import',
  '--json',
  ...words,
]
const runImport = (url: string, ...words: string[]) => barograph(wordsOf(url, words))

function fileOf(name: string): string {
  const path = join(folder, name)
  const lines = Array.from({ length: linesOfFile }, (_, index) => {
    return `${new Date(Date.UTC(2026, 0) + index * 1000).toISOString()},${name.slice(0, 5)},1,2,1000\n`
  })
  writeFileSync(path, header + lines.join(''))
  return path
}

t.test('after a kill, acknowledged lines are not sent again but count in the totals', async t => {
  const { received, open, url } = await startServer(t)
  const files = [fileOf('first.csv'), fileOf('second.csv')]
  const state = join(folder, 'state.json')
  open.answers = 100
  await runImport(url, ...files)
  const all = received.splice(0)
  t.ok(all.length >= 4, 'several batches a file')
  const killedAt = all.length - 1
  open.answers = killedAt - 1
  const command = ['cli/barograph.ts', ...wordsOf(url, [...files, '--state', state])]
  const child = spawn(process.execPath, command, { stdio: 'ignore' })
  await until('a batch is not answered', () => received.length === killedAt)
  child.kill('SIGKILL')
  await once(child, 'exit')
  received.length = 0
  open.answers = 100
  const { status, stdout, stderr } = await runImport(url, ...files, '--state', state)
  t.equal(status, 0, stderr)
  t.strictSame(received.splice(0), all.slice(killedAt - 1))
  const accepted = linesOfFile
  t.match(JSON.parse(stdout), { complete: true, accepted: 2 * accepted, files: [{ accepted }, { accepted }] })
  t.notOk(existsSync(state), 'nothing is left to be continued')
})

t.test('another mapping or another modification time of the file starts from scratch', async t => {
  const { received, open, url } = await startServer(t)
  const file = fileOf('changed.csv')
  const state = join(folder, 'changed.json')
  open.isRefusing = true
  const failAt = async (count: number, ...words: string[]) => {
    received.length = 0
    open.answers = count - 1
    t.match(await runImport(url, file, '--state', state, ...words), { status: 1 })
    return received.map(line => line.slice(0, 20))
  }
  const [one, two] = ['2026-01-01T00:00:00.', '2026-01-01T05:33:20.']
  t.strictSame(await failAt(2), [one, two])
  t.strictSame(await failAt(1), [two])
  await failAt(2, '--map', 'temperature=humidity')
  t.strictSame(await failAt(2), [one, two])
  writeFileSync(file, readFileSync(file, 'utf8').replace(',1,', ',3,'))
  t.strictSame(await failAt(1), [one])
})

t.test('standard input and an invalid state file are refused', async t => {
  const { url } = await startServer(t)
  t.match(await runImport(url, '-', '--state', join(folder, 'x.json')), { status: 2, stderr: /cannot be continued/ })
  const wrong = await runImport(url, fileOf('y.csv'), '--state', tokenFile)
  t.match(wrong, { status: 1, stderr: /is not a state file of an import/ })
  t.equal(readFileSync(tokenFile, 'utf8'), 'token')
})
