/** Starting, watching and stopping the service like an operator: by npm, in a container, in the background, in a terminal. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { connectAsync } from 'mqtt'
import { type Test, test } from 'tap'
import { makeCertificate } from '../support/certificate.ts'
import { dataDirectoryPath, temporaryFolder } from '../support/databases.ts'
import { familyOf, isRunning, parentOf, serverPid, until } from '../support/processes.ts'
import { runToEnd } from '../support/run-program.ts'
import { basic, startService as startPlainService, withoutQuestdb } from '../support/service.ts'

const root = resolve(import.meta.dirname, '..', '..')
const payload = { device: 'kitchen', temperature: 20, humidity: 50, pressure: 1000 }

/** Runs the health check of the image as Docker does, with the settings of the service. */
async function isHealthy(url: string, settings: Record<string, string> = {}): Promise<boolean> {
  const dockerfile = readFileSync(join(root, 'deploy', 'Dockerfile'), 'utf8').replaceAll('\\\n', '')
  const command = /^HEALTHCHECK .*?CMD (.+)$/m.exec(dockerfile)?.[1] ?? ''
  // Docker gives containers the proxy of its configuration. This one does not respond.
  const [http_proxy, https_proxy] = ['http://127.0.0.1:9', 'http://127.0.0.1:9']
  const environment = { PATH: process.env['PATH'], PORT: new URL(url).port, http_proxy, https_proxy, ...settings }
  const { status, stderr } = await runToEnd('sh', ['-c', command], { folder: '/', environment })
  if (status === 127) throw new Error(stderr)
  return status === 0
}

interface Started {
  child: ChildProcess
  url: string
  dataDirectory: string
  output(): string
  /** The child, all that it has started, and their watchdogs. */
  pids: number[]
}

/** Starts the service without QuestDB and waits until it listens. */
async function startService(
  t: Test,
  [command = '', ...words]: readonly string[],
  settings: Record<string, string> = {},
): Promise<Started> {
  const dataDirectory = await dataDirectoryPath(t, false)
  // A runner in a runner would take over the settings of the outer one, its output file among them.
  const environment = Object.entries(process.env).filter(([name]) => name !== 'PARENT_PID' && !/^_?TAP/.test(name))
  const own = { ...withoutQuestdb, PORT: '0', TIME_ZONE: 'UTC', DATA_DIR: dataDirectory }
  const child = spawn(command, words, {
    cwd: root,
    env: { ...Object.fromEntries(environment), ...own, ...settings },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const listening = () =>
    /"url":"([^"]+)"/.exec(/^.*listening.*"url".*$|^.*"url".*"listening".*$/m.exec(output)?.[0] ?? '')?.[1]
  await until('the service listens', () => listening() !== undefined || child.exitCode !== null)
  const url = listening()
  if (url === undefined) throw new Error(`it did not start: ${output}`)
  // A watchdog is in the group of its server, wherever it hangs.
  const pids = [...new Set(familyOf(child.pid ?? 0).flatMap(familyOf))]
  t.ok(pids.length >= 3, 'the service, PostgreSQL and its watchdog run')
  // Should the test fail, nothing of it may stay.
  t.teardown(() => {
    for (const left of pids.filter(isRunning)) process.kill(left, 'SIGKILL')
  })
  return { child, url, dataDirectory, output: () => output, pids }
}

async function hasStopped(t: Test, { pids, output }: Started): Promise<void> {
  await until('nothing is left', () => !pids.some(isRunning))
  await until('it says so', () => /stopped/.test(output()))
  t.pass('in an orderly way')
}

/** Namespaces make a process number 1. Without them it runs like any other one. */
function namespace(): string[] {
  const ways = [
    ['unshare', '--pid', '--fork', '--mount-proc'],
    ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc'],
  ]
  const isPossible = ([command = '', ...words]: string[]): boolean => {
    try {
      return execFileSync(command, [...words, '/bin/sh', '-c', 'echo $$'], { stdio: 'pipe' }).toString() === '1\n'
    } catch {
      return false
    }
  }
  return ways.find(isPossible) ?? []
}

test('SIGTERM to the first process of a container stops all without a delay by clients', async t => {
  const [command = '', ...words] = [...namespace(), process.execPath, 'service/main.ts']
  const started = await startService(t, [command, ...words])
  const { child, url, dataDirectory } = started
  const [own = 0, first = 0] = familyOf(child.pid ?? 0)
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const added = await fetch(`${url}/api/admin/devices`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'kitchen' }),
  })
  const { password } = (await added.json()) as { password: string }
  const authorization = basic('kitchen', password)
  const before = started.output().length
  const count = 20
  for (let index = 0; index < count; index++) {
    const headers = { authorization, 'content-type': 'application/json' }
    const { status } = await fetch(`${url}/api/log`, { method: 'PUT', headers, body: JSON.stringify(payload) })
    t.equal(status, 200)
  }
  // Log lines of the start may arrive meanwhile.
  const logged = started.output().slice(before)
  t.notMatch(logged, 'kitchen', 'nothing is logged for a reading')
  t.ok(logged.split('\n').length <= count, logged)
  const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n`
  const sent = {
    nothing: '',
    'half a header': 'PUT /api/log HT',
    'half a body': `${head}content-type: application/json\r\ncontent-length: 50\r\n\r\n{`,
    'much, and reads nothing': 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2000),
  }
  for (const text of Object.values(sent)) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.on('error', () => undefined).pause()
    await once(socket, 'connect')
    socket.write(text)
  }
  await until('the service responds', async () => (await fetch(`${url}/health/live`)).ok)
  const second = startPlainService(t, { dataDirectory, environment: withoutQuestdb })
  await t.rejects(second, /in use|another|process/, 'a second service on the same data directory is refused')
  t.ok(await isHealthy(url))
  process.kill(command === process.execPath ? own : first, 'SIGTERM')
  await hasStopped(t, started)
  t.notOk(await isHealthy(url), 'a service that is gone')
})

test('a service that was started in the background outlives the shell, with a certificate for HTTPS and MQTT', async t => {
  const { key, cert } = makeCertificate(temporaryFolder(t))
  const words = ['/bin/sh', '-c', `${process.execPath} service/main.ts & read -r end`]
  const started = await startService(t, words, { TLS_CERT: cert, TLS_KEY: key, MQTT_PORT: '0', PARENT_PID: '' })
  const { child, url, output } = started
  const pid = parentOf(serverPid({ path: started.dataDirectory }, 'postgres'))
  child.stdin?.end()
  await until('the shell has ended', () => parentOf(pid) !== child.pid)
  t.match(url, /^https:/)
  const mqttPort = Number(/"port":(\d+)[^\n]*"msg":"MQTT listening"/.exec(output())?.[1])
  const broker = connectAsync(`mqtts://127.0.0.1:${mqttPort}`, { ca: readFileSync(cert), reconnectPeriod: 0 })
  await t.rejects(broker, /Bad username or password/, 'MQTT has the same certificate')
  // Longer than it takes to see that a parent is gone.
  for (let asked = 0; asked < 20; asked++) {
    const [response] = await once(request(`${url}/health/live`, { ca: readFileSync(cert) }).end(), 'response')
    t.equal(response.statusCode, 200)
    response.resume()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  t.ok(await isHealthy(url, { TLS_CERT: cert }))
  process.kill(pid, 'SIGTERM')
  await hasStopped(t, started)
})

test('the service stops in an orderly way when npm is killed', async t => {
  const started = await startService(t, ['npm', 'start', '--silent'])
  process.kill(started.child.pid ?? 0, 'SIGKILL')
  await hasStopped(t, started)
  t.match(started.output(), /"reason":"the parent has ended".*"msg":"stopped"/s)
})

/** `script` of util-linux gives the command a terminal of its own, by a shell, which stays beside the command where that has no `exec`. */
const inTerminal = (command: string) => ['script', '--quiet', '--return', '--flush', '--command', command, '/dev/null']

test('in a terminal the service logs readable lines until Ctrl-C stops it', async t => {
  const started = await startService(t, inTerminal('exec bin/barograph start'), { LOG_FORMAT: '' })
  const exited = once(started.child, 'close')
  started.child.stdin?.write('\u0003')
  t.strictSame(await exited, [0, null], started.output())
  const output = started.output()
  t.match(output, /^\S*\[?\d\d:\d\d:\d\d\]?.* .*INFO.*listening.*"url":"http:\/\/127\.0\.0\.1:\d+"/m)
  t.match(output, /INFO.*stopped/)
  t.notMatch(output, '"msg"')
})

test('SIGTERM to npm stops the service', async t => {
  const started = await startService(t, ['npm', 'start', '--silent'])
  process.kill(started.child.pid ?? 0, 'SIGTERM')
  await hasStopped(t, started)
})
