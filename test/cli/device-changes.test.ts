/** Changes of many devices by the command line, against a real service. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const service = await startService(t, { environment: withoutQuestdb })
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const folder = temporaryFolder(t)
const run = (words: string, stdin = '') => barograph(words.split(' '), { environment, stdin })

async function json(words: string): Promise<unknown> {
  const { stdout, stderr } = await run(`${words} --json`)
  if (stdout === '') throw new Error(`${words}: ${stderr}`)
  return JSON.parse(stdout)
}

/** More than the service takes in one change. */
const halls = Array.from({ length: 502 }, (_, at) => `hall-${String(at).padStart(3, '0')}`)
const rows = ['device,tags', ...halls.map(name => `${name},site:berlin`), 'porch,site:berlin2;room:1', 'attic,']
const made = await run('devices import -', `${rows.join('\n')}\n`)
t.equal(made.status, 0, made.stderr)

async function withLog(isOn: boolean): Promise<string[]> {
  const listed = (await json('devices list')) as { name: string; log_switch: boolean }[]
  return listed.filter(({ log_switch }) => log_switch === isOn).map(({ name }) => name)
}

t.test('devices are suspended and resumed by name, and each is told of', async t => {
  t.match(await run('devices suspend attic porch attic'), { status: 0, stdout: 'attic  suspended\nporch  suspended\n' })
  t.strictSame(await withLog(false), ['attic', 'porch'])
  const resumed = await run('devices resume porch nobody attic')
  t.match(resumed, {
    status: 1,
    stdout: 'porch   resumed\nnobody  not resumed: device unknown\nattic   resumed\n',
    stderr: 'barograph: not done for 1 of 3 devices\n',
  })
  t.strictSame(await withLog(false), [])
  const told = await run('devices suspend nobody --json')
  t.equal(told.status, 1)
  t.strictSame(JSON.parse(told.stdout), { done: 0, failed: [{ device: 'nobody', reason: 'device unknown' }] })
})

t.test('all devices of a tag are changed, however many, and no others', async t => {
  const suspended = await run('devices suspend --tagged site:berlin')
  t.equal(suspended.status, 0)
  t.equal(suspended.stdout, halls.map(name => `${name}  suspended\n`).join(''))
  t.strictSame(await withLog(true), ['attic', 'porch'])
  t.strictSame(await json('devices resume --tagged site:*'), { done: 503, failed: [] })
  t.strictSame(await withLog(false), [])
  t.match(await run('devices suspend --tagged site:berlin --tagged room:1'), {
    status: 1,
    stderr: 'barograph: no device has site:berlin and room:1\n',
  })
})

t.test('tags are given and taken away', async t => {
  t.match(await run('devices tag room:2 porch attic'), { status: 0, stdout: 'porch  tagged\nattic  tagged\n' })
  t.match(await json('devices show porch'), { tags: ['room:2', 'site:berlin2'] })
  t.match(await run('devices untag room:* --tagged site:berlin2'), { status: 0, stdout: 'porch  untagged\n' })
  t.match(await json('devices show porch'), { tags: ['site:berlin2'] })
  t.match(await json('devices show attic'), { tags: ['room:2'] })
  t.match(await run('devices tag room attic'), { status: 1, stdout: '', stderr: /must be a key, a colon and a value/ })
})

t.test('new passwords go to a file of the owner, or are shown once', async t => {
  const output = join(folder, 'passwords.csv')
  const rotated = await run(`devices rotate attic nobody porch --now --output ${output}`)
  t.match(rotated, { status: 1, stdout: '' })
  t.equal(
    rotated.stderr,
    `2 new passwords, in ${output}\n"nobody": device unknown\nbarograph: not done for 1 of 3 devices\n`,
  )
  t.equal(statSync(output).mode & 0o777, 0o600)
  const file = readFileSync(output, 'utf8')
  const [, attic = '', porch = ''] =
    /^device,password\n"attic",([0-9a-f]{64})\n"porch",([0-9a-f]{64})\n$/.exec(file) ?? []
  const reading = { device: 'porch', temperature: 20, humidity: 50, pressure: 1000 }
  t.equal((await service.put('porch', porch, reading)).status, 200)
  t.equal((await service.put('porch', attic, reading)).status, 401)
  t.match(await run(`devices rotate attic --output ${output}`), { status: 1, stderr: /already exists/ })
  t.equal(readFileSync(output, 'utf8'), file)
  const shown = await run('devices rotate --tagged site:berlin2')
  t.match(shown, { status: 0, stderr: '1 new password, shown only once\n' })
  t.match(shown.stdout, /^device,password\n"porch",[0-9a-f]{64}\n$/)
  t.equal((await service.put('porch', porch, reading)).status, 200, 'the old one is valid for a while')
})

t.test('devices are named or chosen by tags', async t => {
  const usage = { status: 2, stdout: '', stderr: /name the devices or choose them with --tagged/ }
  for (const words of ['suspend', 'suspend porch --tagged site:berlin', 'tag room:1', 'rotate']) {
    t.match(await run(`devices ${words}`), usage, words)
  }
  t.match(await run('devices suspend --tagged berlin'), {
    status: 2,
    stderr: 'barograph: --tagged berlin: must be a key, a colon and a value\n',
  })
})
