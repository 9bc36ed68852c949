/** The rules that docs/alerts.md recommends: each is accepted unchanged and fires as described. */

import { spawn } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { PreviewAnswer } from '../../alerts/core/preview-answer.ts'
import { createSigningSecret, signatureHeaders } from '../../alerts/delivery/signing.ts'
import { freePort } from '../../store/process/free-port.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { sharedService } from '../support/service.ts'

const service = await sharedService(t)
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const run = (...words: string[]) => barograph(['alerts', ...words], { environment })

const root = resolve(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs', 'alerts.md'), 'utf8')
const section = page.split('\n## ').find(part => part.startsWith('Ten rules\n')) ?? ''
const recipes = [...section.matchAll(/^\| ([^|]+) \| `(--[^`]+)` \|$/gm)].map(([, what = '', options = '']) => {
  return { what, words: [...options.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '') }
})

const hours = 24
const stepMs = 300_000
const nowMs = Math.floor(Date.now() / stepMs) * stepMs
type Values = { temperature: number; humidity: number; pressure: number; battery: number }
const usual: Values = { temperature: 21, humidity: 55, pressure: 1013, battery: 80 }
const isBetween = (ago: number, from: number, to: number) => ago <= from && ago > to
/** The changed values by device and hours ago. undefined is a missing reading. */
const history: Record<string, (ago: number) => Partial<Values> | undefined> = {
  freezer: ago => ({ temperature: isBetween(ago, 10, 9) ? -10 : -20 }),
  rack: ago => ({ temperature: isBetween(ago, 8, 7) ? 35 : 22 }),
  greenhouse: ago => ({ temperature: isBetween(ago, 6, 5) ? 0.5 : 9 }),
  bath: ago => ({ humidity: isBetween(ago, 20, 12) ? 85 : 60 }),
  porch: ago => ({ pressure: ago > 10 ? 1013 : 1008 }),
  sensor: ago => ({ battery: 10 + 20 * (ago / hours) }),
  'berlin-1': ago => (isBetween(ago, 5, 3) ? undefined : {}),
  'berlin-2': ago => (isBetween(ago, 5, 3) ? undefined : {}),
  'berlin-3': ago => (isBetween(ago, 5, 3) ? undefined : {}),
  'berlin-4': () => ({}),
}
/** The service's name of a device on the page. */
const named = (device: string) => `recipes-${device}`
const withNames = (words: readonly string[]) => words.map(word => (word in history ? named(word) : word))
/** Devices with the tags that the page names. */
const tagged: Record<string, string[]> = {
  'room:server': ['rack'],
  'room:*': ['bath', 'rack'],
  'site:greenhouse': ['greenhouse'],
  'site:berlin': ['berlin-1', 'berlin-2', 'berlin-3', 'berlin-4'],
}

t.before(async () => {
  for (const name of Object.keys(history)) {
    await service.addDevice(named(name), { expected_interval_seconds: stepMs / 1000 })
  }
  const lines = ['timestamp,device,temperature,humidity,pressure,battery_voltage,battery_percentage']
  for (let ms = nowMs - hours * 3_600_000; ms <= nowMs; ms += stepMs) {
    for (const [device, at] of Object.entries(history)) {
      const given = at((nowMs - ms) / 3_600_000)
      if (given === undefined) continue
      const { temperature, humidity, pressure, battery } = { ...usual, ...given }
      lines.push(`${new Date(ms).toISOString()},${named(device)},${temperature},${humidity},${pressure},,${battery}`)
    }
  }
  await service.import(`${lines.join('\n')}\n`)
  await until('the state of the fleet is known', async () => (await fetch(`${service.url}/api/fleet`)).ok)
})

t.test('the ten recipes are accepted by the service', async t => {
  t.equal(recipes.length, 10)
  for (const { what, words } of recipes) {
    const { stdout, stderr } = await run('rules', 'add', what, ...withNames(words), '--json')
    t.equal(stderr, '', what)
    t.match(await run('rules', 'remove', String(JSON.parse(stdout).id)), { status: 0 })
  }
})

t.test('each fires once on a day on which it should', async t => {
  const expected = ['freezer', 'rack', 'greenhouse', 'bath', 'porch', null, 'sensor']
  for (const [at, device] of expected.entries()) {
    const { what, words } = recipes[at] ?? { what: '', words: [] }
    const all = words.flatMap(word => {
      if (word === '--all') return ['--device', ...Object.keys(history)]
      return tagged[word] ?? (word === '--tag' ? ['--device'] : [word])
    })
    const preview = ['rules', 'preview', ...withNames(all), '--days', '2', '--json']
    let answer: PreviewAnswer | undefined
    // Imported readings show when QuestDB has applied them.
    await until(`${what} fires`, async () => {
      answer = JSON.parse((await run(...preview)).stdout)
      return (answer?.total ?? 0) > 0
    })
    const devices = [{ device: device === null ? null : named(device), count: 1, intervals: { length: 1 } }]
    t.match(answer, { supported: true, total: 1, devices }, what)
  }
  const { stdout: table } = await run('rules', 'preview', ...withNames(recipes[0]?.words ?? []), '--days', '2')
  t.match(table, /^device +fires +longest\nrecipes-freezer +1 +\d+ s\n\nweek +fires +with half of --for +with twice\n2/)
  for (const { what, words } of recipes.slice(7)) {
    const { stdout } = await run('rules', 'preview', ...withNames(words))
    t.equal(stdout, 'stored readings say nothing of this condition\n', what)
  }
})

t.test("the page's receiver verifies webhooks and refuses other signatures", async t => {
  const port = await freePort()
  const program = /```js\n([\s\S]*?)```/.exec(page)?.[1]?.replace('9000', String(port)) ?? ''
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'receiver.js'), program)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const [secret, other] = [createSigningSecret(), createSigningSecret()]
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  const child = spawn(process.execPath, ['receiver.js'], { cwd: folder, env: { SECRET: secret }, stdio })
  t.teardown(() => child.kill())
  let output = ''
  child.stdout.on('data', (text: Buffer) => (output += text.toString()))
  const data = { rule: { name: 'hot' }, alerts: [] }
  const body = JSON.stringify({ type: 'alert.test', timestamp: new Date().toISOString(), data })
  const post = async (by: string) => {
    const headers = signatureHeaders({ secret: by }, { webhookId: 'msg_1', body, nowMs: Date.now() })
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
    // It may not listen yet.
    return await fetch(`http://127.0.0.1:${port}`, init).then(
      ({ status }) => status,
      () => undefined,
    )
  }
  await until('the receiver takes it', async () => (await post(secret)) === 204)
  await until('it says so', () => output !== '')
  t.match(output, /^alert\.test /)
  t.equal(await post(other), 400)
})
