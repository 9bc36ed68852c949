/** Untrusted names do not control the terminal. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { printable, printableLines } from '../../cli/output.ts'
import { startAnswering } from '../support/answering-server.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'

const folder = temporaryFolder(t)
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, `${'a'.repeat(64)}\n`)

/** Clears the screen, reverses the text, begins a line, rings the bell, and does so in one byte of Latin-1. */
const hostile = 'a\u001b[2J\u202eb\u2028c\nd\u0007\u009be\r'
const shown = 'a\\u001b[2J\\u202eb\\u2028c\\nd\\u0007\\u009be\\r'
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

t.test('output has no control characters while JSON is unchanged', async t => {
  t.equal(printable(hostile), shown)
  t.equal(printable('Küche 🌡️ 温室 👩‍🌾'), 'Küche 🌡️ 温室 👩‍🌾')
  t.equal(printableLines('a\nb\tc\n'), 'a\nb\\tc\n')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const json = printable(JSON.stringify(text))
      return !obeyed.test(printable(text)) && !obeyed.test(json) && JSON.parse(json) === text
    }),
  )
})

const device = {
  ...NewDevice.parse({ name: 'a', location_short: 'b\u202e' }),
  number: 1,
  name: hostile,
  symbol: 'a-1',
  credential: 'current',
  old_password_until: null,
  created_at: '2026-01-01T00:00:00.000Z',
  last_seen: null,
  last_reading: null,
  state: 'never',
}

async function startServer(status: number, answer: object): Promise<string[]> {
  const { url } = await startAnswering(t, () => ({ status, text: JSON.stringify(answer) }))
  return ['--url', url, '--token-file', tokenFile]
}

const unseen = (text: string) => text.split('\n').every(line => !obeyed.test(line))

t.test('untrusted names, sentences and file names are escaped', async t => {
  const good = await startServer(200, { devices: [device], total: 1, page: 1, next: null })
  const table = await barograph(['devices', 'list', ...good])
  t.match(table, { status: 0, stderr: '' })
  t.ok(table.stdout.includes(`${shown}  b\\u202e`) && unseen(table.stdout), table.stdout)
  const json = await barograph(['devices', 'list', '--json', ...good])
  t.ok(unseen(json.stdout))
  t.match(JSON.parse(json.stdout), [{ name: hostile }])

  const problem = { title: 'bad', detail: hostile, errors: [{ path: hostile, message: hostile }] }
  const bad = await startServer(422, problem)
  const refused = await barograph(['devices', 'add', 'a', ...bad])
  t.equal(refused.stderr, `barograph: ${shown}\n  ${shown}: ${shown}\n`)

  const absent = await barograph(['import', hostile, ...good])
  t.equal(absent.stderr.split('\n').at(-2), `barograph: file not found: ${shown}`)
  const file = join(folder, `${hostile}.csv`)
  writeFileSync(file, 'timestamp,device,temperature,humidity,pressure\n2026-01-01T00:00:00Z,x,1,2,3\n')
  const reject = { line: 2, device: hostile, code: 'DEVICE_UNKNOWN', reason: hostile }
  const counts = { accepted: 0, replaced: 0, rejected: 1, rejects_truncated: false }
  const rejecting = { ...counts, rejects: [reject], ignored_columns: [hostile] }
  const rejected = await barograph(['import', file, ...(await startServer(200, rejecting))])
  t.ok(rejected.stdout.includes(`${shown}.csv:2: ${shown}: ${shown}`) && unseen(rejected.stdout), rejected.stdout)

  const usage = await barograph([hostile])
  t.equal(usage.status, 2)
  t.ok(unseen(usage.stderr), usage.stderr)
})

t.test('commands write only to escaping streams', async t => {
  const directory = join(import.meta.dirname, '../../cli')
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && !name.startsWith('demo/'),
  )
  const writers = files.filter(name => readFileSync(join(directory, name), 'utf8').includes('.write('))
  t.strictSame(writers, ['output.ts'])
})

t.test('a confirmation of expiring days is printed, as is its refusal', async t => {
  const words = ['retention', 'confirm', '2026-01-02']
  const good = await startServer(200, { before: '2026-01-02' })
  t.match(await barograph([...words, ...good]), { status: 0, stdout: /^raw readings before 2026-01-02 expire / })
  t.match(await barograph([...words, '--json', ...good]), { status: 0, stdout: '{"before":"2026-01-02"}\n' })
  const bad = await startServer(409, { title: 'no waiting days', detail: 'no days wait' })
  t.match(await barograph([...words, ...bad]), { status: 1, stderr: 'barograph: no days wait\n' })
})
