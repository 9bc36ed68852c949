/** `barograph init`: with options, with the questions of a terminal, and with a unit of systemd. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { runCommand } from '../../cli/program.ts'
import { freePort } from '../../store/process/free-port.ts'
import { packageFolder } from '../../store/version.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { basic, startService, withoutQuestdb } from '../support/service.ts'

const password = 'correct horse battery staple'

t.test('options set up a data directory with an operator and a device, by a service that stops again', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  const environment = { ...withoutQuestdb, PORT: String(await freePort()) }
  const words = ['init', '--data-dir', dataDirectory, '--email', 'ada@example.com', '--device', 'porch', '--json']
  const made = await barograph([...words, '--password-stdin'], { environment, stdin: password })
  t.match(made, { status: 0, stderr: '' })
  const { running, account, device } = JSON.parse(made.stdout)
  t.match({ running, account }, { running: false, account: { role: 'operator', password_link: null } })

  const service = await startService(t, { dataDirectory, environment: withoutQuestdb })
  const headers = { authorization: basic('porch', device.password), 'content-type': 'application/json' }
  const body = JSON.stringify({ device: 'porch', temperature: 21.4 })
  t.equal((await fetch(`${service.url}/api/log`, { method: 'PUT', headers, body })).status, 200)
  const again = { environment: { DATA_DIR: dataDirectory, PORT: new URL(service.url).port } }
  t.match(await barograph(words, again), { status: 1, stderr: /there is an operator already/ })
  t.match(await barograph(['init', '--systemd'], again), { status: 1, stderr: /a service runs already/ })
})

t.test('a terminal is asked for the rest, and again for what the service refuses', async t => {
  const service = await startService(t, { environment: withoutQuestdb, isFirstStart: true })
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 40 })
  let shown = ''
  stdout.on('data', text => (shown += text))
  const { PATH = '', HOME = '' } = process.env
  const status = runCommand(['init'], {
    stdin,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stdout as unknown as NodeJS.WriteStream,
    environment: { PATH, HOME, DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port },
    version: '0.0.0',
  })
  const answer = async (question: string, text: string) => {
    await until(`${question} is asked`, () => shown.includes(question))
    shown = ''
    stdin.write(`${text}\r`)
  }
  await answer('E-mail address of the operator', 'ada@example.com')
  await answer('Password', 'password')
  await answer('E-mail address of the operator', 'ada@example.com')
  await answer('Password', password)
  await answer('Name of the first device', 'porch')
  await answer('Where it is', 'Porch')
  t.equal(await status, 0)
  t.match(shown, /account +ada@example\.com\n/)
  t.match(shown, /curl -u 'porch:\w+' -X PUT/)
})

t.test('systemd gets a unit of this program, with its user and data directory', async t => {
  const folder = temporaryFolder(t)
  const programs = join(folder, 'bin')
  mkdirSync(programs)
  const log = join(folder, 'calls')
  // The service that systemctl would start does not answer, and the test needs the calls alone.
  for (const name of ['id', 'useradd', 'install', 'systemctl']) {
    const status = name === 'id' || name === 'systemctl' ? 'test "$1" = daemon-reload' : 'true'
    writeFileSync(join(programs, name), `#!/bin/sh\necho "${name} $*" >> ${log}\n${status}\n`)
    chmodSync(join(programs, name), 0o755)
  }
  const dataDirectory = '/srv/barograph'
  const environment = { PATH: `${programs}:/usr/bin:/bin`, SYSTEMD_UNIT_PATH: folder, PORT: String(await freePort()) }
  const run = await barograph(['init', '--systemd', '--data-dir', dataDirectory], { environment })
  t.match(run, { status: 1, stderr: 'barograph: systemctl enable --now barograph: ' })
  t.equal(
    readFileSync(log, 'utf8'),
    `id barograph
useradd --system --home-dir /var/lib/barograph --shell /usr/sbin/nologin barograph
install -d -o barograph -m 711 ${dataDirectory}
systemctl daemon-reload
systemctl enable --now barograph
`,
  )
  const unit = readFileSync(join(folder, 'barograph.service'), 'utf8')
  t.match(unit, `\nExecStart=${packageFolder()}/bin/barograph start\n`)
  t.match(unit, '\nEnvironment=DATA_DIR=/srv/barograph\n')
  t.match(unit, '\nReadWritePaths=-/var/backups/barograph /srv/barograph\n')
  const hidden = await barograph(['init', '--systemd', '--data-dir', '/home/ada/data'], { environment })
  t.match(hidden, { status: 1, stderr: /systemd hides \/home\/ada\/data/ })
  t.notOk(existsSync('/home/ada/data'))
})
