/** The command line without a server: help, usage, and sentences that name the remedy. */

import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { readDeviceCsv } from '../../cli/device-csv.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'

const folder = temporaryFolder(t)
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, `${'a'.repeat(64)}\n`)

t.test('help of a command is the same before its name as behind it', async t => {
  for (const command of ['devices', 'alerts rules add', 'import']) {
    const words = command.split(' ')
    const [before, behind] = [await barograph(['help', ...words]), await barograph([...words, '--help'])]
    t.match(behind.stdout, `Usage: barograph ${command}`)
    t.match(behind.stdout, '--token-file', 'it names the options that hold for all')
    t.match(before, { status: 0, stderr: '', stdout: behind.stdout }, command)
  }
  t.match(await barograph(['help']), { status: 0, stdout: /^Usage: barograph \[options\]/ })
})

t.test('wrong usage says so and ends with 2', async t => {
  const devices = /name the devices or choose them with --tagged/
  for (const [words, stderr] of [
    ['', /Usage: barograph/],
    ['devces', /unknown command 'devces'/],
    ['devices add a --altitude high', /Expected a number/],
    ['devices set a', /nothing to change/],
    ['devices set a --battery-type lead', /Allowed choices are alkaline/],
    ['devices set a --limits {', /Expected JSON such as/],
    ['devices show ..', /not a valid device name/],
    ['devices erase a --metric ../x', /"\.\.\/x" is not a name of a metric/],
    ['devices suspend', devices],
    ['devices suspend gates --tagged site:berlin', devices],
    ['devices suspend --tagged berlin', /^barograph: --tagged berlin: must be a key, a colon and a value\n$/],
    ['dead-letters replay x', /whole number/],
    ['retention confirm 2026-02-30', /must be a date/],
    ['status --url localhost', /not a valid server address/],
    ['rejections --limit 0', /from 1 to 1000/],
    ['metrics set ../x --decimals 1', /is not a valid metric name/],
    ['metrics add x --kind vector', /Allowed choices are gauge, counter/],
    ['keys revoke x', /must be a whole number/],
    ['keys add --account a@b.example', /--name/],
    ['accounts add a@b.example --password-stdin', /no password/],
    ['accounts invite a@b.example --role operator', /Allowed choices are user, a/],
    ['tenants rotate ../devices', /is not a valid slug/],
    ['stations set .. --city x', /is not a valid sn/],
    ['stations set IN-9 --model ', /Expected a text/],
    ['alerts rules add x --condition hot --all', /JSON object/],
    ['alerts rules add x --for soon', /duration/],
    ['alerts silences add --for 2h', /--device, --tag or --all/],
    ['alerts silences add --all --weekly {}', /JSON array/],
  ] as const) {
    const run = await barograph(words.split(' ').slice(words === '' ? 1 : 0), { environment: { DATA_DIR: folder } })
    t.match(run, { status: 2, stdout: '', stderr }, words)
  }
})

t.test('an unreachable server is reported in one sentence', async t => {
  const shown = async (words: string[], environment: Record<string, string>, message: RegExp) => {
    const run = await barograph(words, { environment })
    t.match(run, { status: 1, stdout: '', stderr: message }, message.source)
    t.equal(run.stderr.trim().split('\n').length, 1)
  }
  const settings = { DATA_DIR: join(folder, 'data') }
  const listen = createServer().listen(0, '127.0.0.1')
  await new Promise(listening => listen.once('listening', listening))
  const { port } = listen.address() as { port: number }
  await new Promise(closed => listen.close(closed))
  const none = new RegExp(`no server at http://127.0.0.1:${port}; start it with npm start`)
  await shown(['status', '--token-file', tokenFile], { PORT: String(port) }, none)
  await shown(
    ['status'],
    settings,
    /cannot read the admin token from .*data\/secrets\/admin-token; start the server once/,
  )
  await shown(['status', '--token-file', tokenFile], { PORT: '0' }, /PORT is 0/)
  await shown(['status'], { PORT: 'x' }, /Wrong settings: PORT/)
  await shown(['status', '--token-file', '/dev/null'], {}, /does not contain an admin token/)
})

t.test('Kafka is reported in one sentence, too', async t => {
  const shown = async (environment: Record<string, string>, message: RegExp) => {
    const run = await barograph(['kafka', 'prepare'], { environment })
    t.match(run, { status: 1, stdout: '', stderr: message }, message.source)
    t.equal(run.stderr.trim().split('\n').length, 1)
  }
  await shown({}, /KAFKA_BROKERS is not set, so the journals are on disk/)
  await shown({ KAFKA_BROKERS: 'nowhere' }, /Wrong settings: KAFKA_BROKERS/)
  await shown({ KAFKA_BROKERS: '127.0.0.1:1' }, /Kafka at 127.0.0.1:1: no broker answers: .*ECONNREFUSED/)
  const tls = { KAFKA_BROKERS: '127.0.0.1:1', KAFKA_TLS: join(folder, 'none.pem') }
  await shown(tls, /none.pem cannot be used \(ENOENT\)/)
})

t.test('a file of devices is checked before anything is asked of the server', async t => {
  const shown = (content: string, message: string) =>
    t.throws(() => readDeviceCsv(content, 'a.csv'), { message: new RegExp(RegExp.escape(message)) }, message)
  shown('', 'a.csv contains no devices')
  shown('nme\nkitchen\n', 'a.csv: unknown column nme in the header')
  shown('location_short\nkitchen\n', 'lacks the column device')
  shown('device,name\na,b\n', 'duplicate column device')
  shown('name,altitude_m\nkitchen,high\n', 'line 2: altitude_m')
  shown('name,battery\nkitchen,maybe\n', 'line 2: battery')
  shown('device,latitude,longitude\na,52.5,\n', 'line 2: longitude must be given with the other coordinate')
  shown('name\na:b\n', 'line 2: device must not contain ":", "/", "+" or "#"')
  shown('name\nkitchen\nroof\nkitchen\n', 'line 4: duplicate device, also in line 2')
  shown('name,owner\nkitchen\n', 'a.csv: ')
  shown('device,tags\nkitchen,berlin\n', 'line 2: tags.0 must be a key, a colon and a value')
  shown(`name\n${'a:b\n'.repeat(30)}`, 'and 10 more')
  const [present, before] = ['device,expected_interval_seconds', 'name,expected_interval_s'].map(header =>
    readDeviceCsv(`${header}\nporch,60\n`, 'a.csv'),
  )
  t.match(present, [{ name: 'porch', expected_interval_seconds: 60 }])
  t.strictSame(before, present, 'columns by their names before')
  t.match(readDeviceCsv('\ufeffowner,name,battery\r\n\r\n,"a ""b"",c",YES\r\n', 'a.csv'), [
    { name: 'a "b",c', owner: null, battery: true, log_switch: true, altitude_m: null },
  ])
  const places = 'device,latitude,longitude\na,52.52,13.405\nb,,\n'
  t.match(readDeviceCsv(places, 'a.csv'), [
    { name: 'a', latitude: 52.52, longitude: 13.405 },
    { name: 'b', latitude: null, longitude: null },
  ])
  t.match(readDeviceCsv('device,tags\na,site:berlin; room:Server room\nb,"x:1,y:2"\nc,\n', 'a.csv'), [
    { name: 'a', tags: ['room:Server room', 'site:berlin'] },
    { name: 'b', tags: ['x:1', 'y:2'] },
    { name: 'c', tags: [] },
  ])
  const run = await barograph(['devices', 'import', '-'], { stdin: 'name\na:b\n' })
  t.match(run, { status: 1, stdout: '', stderr: /no device was added\n {2}line 2: device must not/ })
  const missing = await barograph(['devices', 'import', join(folder, 'nothing.csv')])
  t.match(missing, { status: 1, stdout: '', stderr: /nothing.csv cannot be read/ })
})

t.test('the doctor reports each problem with its remedy', async t => {
  const healthy = await barograph(['doctor', '--json'], { environment: { DATA_DIR: folder, PORT: '1' } })
  t.equal(healthy.status, 1, 'no service runs')
  const { ok, checks } = JSON.parse(healthy.stdout)
  t.equal(ok, false)
  const named = (name: string) => checks.find((check: { name: string }) => check.name === name)
  for (const name of ['Node', 'settings', 'Java', 'Maven', 'data directory']) t.match(named(name), { ok: true }, name)
  t.match(named('service'), { ok: false, finding: /npm start/ })
  t.match(named('admin token'), { ok: false, finding: /--token-file/ })

  const nowhere = { PATH: '/nonexistent', XDG_CACHE_HOME: folder }
  const bare = await barograph(['doctor'], { environment: { ...nowhere, DATA_DIR: folder, PORT: '1' } })
  t.match(bare.stdout, /problem +Java +QuestDB needs Java 17 or newer.*install one/)
  t.match(bare.stderr, /\d problems found/)

  const wrong = await barograph(['doctor'], { environment: { PORT: 'x' } })
  t.match(wrong, { status: 1, stdout: /problem +settings +Wrong settings: PORT must be/ })

  const file = join(folder, 'file')
  writeFileSync(file, '')
  const noFolder = await barograph(['doctor'], { environment: { DATA_DIR: join(file, 'data') } })
  t.match(noFolder.stdout, /problem +data directory +.*set DATA_DIR to another directory/)
})

t.test('a restore of topics without PostgreSQL ends with its reason', async t => {
  const environment = { DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/c', KAFKA_BROKERS: '127.0.0.1:1' }
  const restored = await barograph(['kafka', 'restore', '/nowhere'], { environment })
  t.match(restored, { status: 1, stderr: /^barograph: PostgreSQL at 127\.0\.0\.1:1, .*ECONNREFUSED[^\n]*\n$/ })
})
