/** The service in a terminal: lines to read, and Ctrl-C. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { runToEnd } from '../support/run-program.ts'
import { withoutQuestdb } from '../support/service.ts'

const root = resolve(import.meta.dirname, '..', '..')

/** `script` of util-linux gives the command a terminal of its own, by a shell, which stays beside the command where that has no `exec`. */
const inTerminal = (command: string) => ['--quiet', '--return', '--flush', '--command', command, '/dev/null']

t.test('the service logs lines to read, and Ctrl-C stops it', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  const environment = { ...process.env, ...withoutQuestdb, PORT: '0', DATA_DIR: dataDirectory, LOG_FORMAT: '' }
  const child = spawn('script', inTerminal('exec bin/barograph start'), { cwd: root, env: environment })
  const exited = once(child, 'close')
  let output = ''
  child.stdout.on('data', (text: Buffer) => (output += text.toString()))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
  })
  await until('it listens', () => output.includes('listening') || child.exitCode !== null)
  child.stdin.write('\u0003')
  t.strictSame(await exited, [0, null], output)
  t.match(output, /^\S*\[?\d\d:\d\d:\d\d\]?.* .*INFO.*listening.*"url":"http:\/\/127\.0\.0\.1:\d+"/m)
  t.match(output, /INFO.*stopped/)
  t.notMatch(output, '"msg"')
})

t.test('LOG_FORMAT decides, else whether a terminal looks on', async t => {
  const program = `
    import { isatty } from 'node:tty'
    import { readConfig } from './settings/config.ts'
    import { createLog } from './service/log-output.ts'
    const log = await createLog(readConfig(process.env), isatty(1))
    log.info({ answer: 42 }, 'hello')
  `
  const node = `'${process.execPath}' --input-type=module-typescript -e "$PROGRAM"`
  const output = async (format: string, command: string, words: string[]) => {
    const environment = { PATH: process.env['PATH'], PROGRAM: program, LOG_FORMAT: format }
    return (await runToEnd(command, words, { folder: root, environment })).stdout
  }
  const piped = (format: string) => output(format, 'sh', ['-c', node])
  const terminal = (format: string) => output(format, 'script', inTerminal(node))
  const json = /^\{.*"answer":42,"msg":"hello"\}\r?\n$/
  const pretty = /INFO.*hello.*"answer":42/
  t.match(await piped(''), json)
  t.match(await piped('pretty'), pretty)
  t.notMatch(await piped('pretty'), '\u001b', 'without colours')
  t.match(await terminal(''), pretty)
  t.match(await terminal('json'), json)
})
