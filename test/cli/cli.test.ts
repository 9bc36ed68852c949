/** The command line against a real service: what an operator does in a day. */

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createSessionCodec } from '../../auth/sessions/session-codec.ts'
import { barograph, type CommandRun } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const service = await startService(t, { environment: { RANGE_PRESSURE: '500..1200' } })
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const folder = temporaryFolder(t)
const password = /^[0-9a-f]{64}$/

const run = (words: string, stdin = ''): Promise<CommandRun> => barograph(words.split(' '), { environment, stdin })

/** Of a command that has to succeed. */
async function json(words: string): Promise<unknown> {
  const { status, stdout, stderr } = await run(`${words} --json`)
  if (status !== 0) throw new Error(`${words}: ${stderr}`)
  return JSON.parse(stdout)
}

/** The same by single words. */
const call = (...words: string[]): Promise<CommandRun> => barograph(words, { environment })
const callJson = async (...words: string[]) => JSON.parse((await call(...words, '--json')).stdout)

const { id: anna } = (await json('accounts add anna@example.com')) as { id: number }

const reading = (device: string) => ({ device, temperature: 20, humidity: 50, pressure: 1000 })

async function logsWith(device: string, secret: string): Promise<number> {
  return (await service.put(device, secret, reading(device))).status
}

async function askAccounts(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/v1/auth${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const email = 'kay@example.com'
const { body: account } = await askAccounts('POST', '/register', { email, password: 'correct horse battery' })
const secret = readFileSync(join(service.dataDirectory, 'secrets', 'session-secret'), 'utf8').trim()
const codec = createSessionCodec({ format: 'jwe-v5', secrets: [secret], isSecure: false, nowMs: Date.now })
const iat = Math.floor(Date.now() / 1000)
const session = await codec.encode({ sub: String(account['id']), iat, auth_time: iat, exp: iat + 3600 })
const cookie = { cookie: `${codec.cookieName}=${session}` }

t.test('what was rejected is printed, newest first, alike ones once', async t => {
  const secret = await service.addDevice('yard')
  const put = async (temperature: unknown) =>
    (await service.put('yard', secret, { device: 'yard', temperature })).status
  t.match(await run('rejections'), { status: 0, stdout: /^0 rejected since \S+Z\n$/, stderr: '' })
  for (const temperature of ['warm', 200, 200]) t.not(await put(temperature), 200)
  const { stdout } = await run('rejections')
  const lines = stdout.trimEnd().split('\n')
  t.match(lines[0], /^3 rejected since /)
  t.match(lines[1], /^latest +way +device +sender +count +reason$/)
  t.match(lines[2], /Z +put +yard +device yard +2 +.*temperature.*must be between/)
  t.match(lines[3], /Z +put +yard +device yard +1 +.*temperature.*must be a number/)
  t.equal(lines.length, 4)
})

t.test('some of them are asked for', async t => {
  t.match(await callJson('rejections', '--limit', '1'), {
    rejected: 3,
    rejections: [{ way: 'put', device: 'yard', count: 2 }],
  })
  t.equal((await callJson('rejections', '--device', 'yard')).rejections.length, 2)
  t.strictSame((await callJson('rejections', '--device', 'cellar')).rejections, [])
  t.strictSame((await callJson('rejections', '--way', 'mqtt')).rejections, [])
  t.match(await run('rejections --limit 0'), { status: 2, stderr: /from 1 to 1000/ })
  t.match(await run('rejections --way post'), { status: 2, stderr: /Allowed choices are put, batch/ })
  await run('devices remove yard')
})

t.test('metrics are listed, added, changed and removed', async t => {
  t.strictSame((await call('metrics', 'list')).stdout.split('\n'), [
    'name                title            unit  kind   range',
    'temperature         Temperature      °C    gauge  -90..85',
    'humidity            Humidity         %     gauge  0..103',
    'pressure            Pressure         hPa   gauge  500..1200',
    'battery_voltage     Battery voltage  V     gauge  0..100',
    'battery_percentage  Battery charge   %     gauge  0..110',
    '',
  ])
  t.match(await callJson('metrics', 'add', 'co2'), { name: 'co2', unit: 'ppm', title: 'CO₂', min: 0 })
  const words = [
    '--title',
    'Sap flow',
    '--unit',
    'l/h',
    '--kind',
    'rate',
    '--decimals',
    '3',
    '--min',
    '-1',
    '--max',
    '1e3',
  ]
  t.match(await call('metrics', 'add', 'sap_flow', ...words, '--quality', '{"spike":5}'), {
    status: 0,
    stdout: /^name +sap_flow\ntitle +Sap flow\nunit +L\/h\n/,
    stderr: '',
  })
  const set = ['--unit', 'none', '--max', 'none', '--quality', 'none', '--color', '#00ff00', '--position', '0']
  t.match(await callJson('metrics', 'set', 'sap_flow', ...set), {
    unit: null,
    max: null,
    min: -1,
    quality: null,
    color: '#00ff00',
    decimals: 3,
  })
  t.match(await callJson('metrics', 'list'), [{ name: 'sap_flow' }, { name: 'temperature' }])
  t.strictSame((await call('metrics', 'list', '--search', 'SAP')).stdout.split('\n'), [
    'name      title     unit  kind  range',
    'sap_flow  Sap flow  -     rate  -1..',
    '',
  ])
  t.match(await call('metrics', 'remove', 'sap_flow'), { status: 0, stdout: 'removed sap_flow\n' })
  t.match(await callJson('metrics', 'remove', 'co2'), { removed: 'co2' })
  t.match(await call('metrics', 'list', '--search', 'sap'), { stdout: 'no metrics\n' })
  t.match(await call('metrics', 'list', '--catalogue', '--search', 'pm2_5'), {
    stdout: /^pm25 +PM2\.5 +µg\/m³ +gauge +-15\.\.10000 +pm2_5/m,
  })
  t.ok((await callJson('metrics', 'list', '--catalogue')).length > 60)
})

t.test('a long list is read to its end', async t => {
  for (let at = 0; at < 105; at++) await service.admin('POST', '/metrics', { name: `long_${at}` })
  t.equal((await callJson('metrics', 'list', '--search', 'long')).length, 105)
})

t.test('a device lists its metrics', async t => {
  t.match(await call('metrics', 'list', '--search', 'co2'), { stdout: 'no metrics\n' })
  t.match(await callJson('devices', 'add', 'bench', '--metrics', 'co2,temperature'), { device: 'bench' })
  t.match(await call('metrics', 'list', '--search', 'co2'), { stdout: /CO₂/ }, 'which the catalogue knew')
  t.match(await callJson('devices', 'show', 'bench'), { metrics: ['co2', 'temperature'] })
  t.match(await callJson('devices', 'set', 'bench', '--metrics', 'none'), { metrics: null })
  await call('devices', 'remove', 'bench')
})

t.test('a change of metrics that cannot be made is told in a sentence', async t => {
  t.match(await call('metrics', 'set', 'rain'), { status: 2, stderr: /nothing to change/ })
  t.match(await call('metrics', 'set', '../x', '--decimals', '1'), { status: 2, stderr: /is not a valid metric name/ })
  t.match(await call('metrics', 'add', 'x', '--kind', 'vector'), {
    status: 2,
    stderr: /Allowed choices are gauge, counter/,
  })
  t.match(await call('metrics', 'add', 'x', '--decimals', 'two'), { status: 2, stderr: /Expected a whole number/ })
})

t.test('keys are listed and revoked', async t => {
  t.match(await run('keys list'), { status: 0, stdout: 'no keys\n' })
  const { body: made } = await askAccounts('POST', '/api-keys', { name: 'a\u202escript' }, cookie)
  const key = { 'x-api-key': String(made['key']) }
  t.equal((await askAccounts('GET', '/me', undefined, key)).status, 200)
  const listed = await run(`keys list --account ${email}`)
  t.match(listed, { status: 0, stderr: '' })
  const [head, row] = listed.stdout.split('\n')
  t.match(head, /^id +account +prefix +scopes +tags +state +last used +name$/)
  t.match(row, `${made['id']}   ${email}  ${made['prefix']}  read    -     active  20`)
  t.match(row, /a\\u202escript$/)
  t.notMatch(listed.stdout, String(made['key']))
  const [json] = JSON.parse((await run('keys list --json')).stdout)
  t.match(json, { id: made['id'], account: account['id'], email, scopes: ['read'], state: 'active' })
  t.match(await run(`keys revoke ${made['id']}`), { status: 0, stdout: `revoked key ${made['id']}\n` })
  t.equal((await askAccounts('GET', '/me', undefined, key)).status, 401)
  t.match((await run('keys list')).stdout, /revoked/)
})

t.test('a change of keys that cannot be made is told in a sentence', async t => {
  t.match(await run('keys revoke x'), { status: 2, stderr: /must be a whole number/ })
})

t.test('a key is made without a browser', async t => {
  const words = ['keys', 'add', '--account', email, '--name', 'weather script', '--scope', 'ingest', '--scope', 'read']
  const unverified = await barograph(words, { environment })
  t.match(unverified, {
    status: 1,
    stdout: '',
    stderr: /^barograph: keys that send readings need a verified address: .*accounts verify/,
  })
  t.match(await run(`accounts verify ${email}`), { status: 0 })
  const made = await barograph([...words, '--expires-in-days', '90', '--create-devices'], { environment })
  t.match(made, { status: 0, stderr: '' })
  t.match(made.stdout, /^scopes +read ingest$/m)
  const [, key = ''] = /once:\n(barograph_key_\w+)\n$/.exec(made.stdout) ?? []
  t.equal((await askAccounts('GET', '/me', undefined, { 'x-api-key': key })).status, 200)
  const json = JSON.parse((await run(`keys add --account ${account['id']} --name plain --json`)).stdout)
  t.match(json, {
    account: account['id'],
    scopes: ['read'],
    expires_at: null,
    create_devices: false,
    key: /^barograph_key_/,
  })
  const limited = await run(
    `keys add --account ${email} --name berlin --tag site:berlin --scope read ingest --tag room:1 --json`,
  )
  t.match(JSON.parse(limited.stdout), { scopes: ['read', 'ingest'], tags: ['room:1', 'site:berlin'] })
  t.match(JSON.parse((await run('keys list --json')).stdout)[0], { tags: ['room:1', 'site:berlin'] })
  t.match(await run(`keys add --account ${email} --name x --scope stations --tag a:b`), {
    status: 1,
    stderr: /a key with tags may have the scopes read and ingest alone/,
  })
  t.match((await run('audit')).stdout, /key\.create/)
  t.match(await run(`keys add --account ${email}`), { status: 2, stderr: /--name/ })
  t.match(await run(`keys add --account ${email} --name x --scope all`), { status: 2, stderr: /Allowed choices/ })
})

t.test('a device that is added may log, and is told once', async t => {
  const added = await json(
    'devices add kitchen --location-short Kitchen --location-desc downstairs --expected-interval 60',
  )
  t.strictSame(Object.keys(added as object), ['device', 'password'])
  t.match(added, { device: 'kitchen', password })
  t.equal(await logsWith('kitchen', (added as { password: string }).password), 200)
  t.match(await json('devices show kitchen'), {
    name: 'kitchen',
    location_short: 'Kitchen',
    location_desc: 'downstairs',
    expected_interval_seconds: 60,
    battery: false,
    log_switch: true,
    last_seen: String,
  })
  t.match(await json('devices set kitchen --interval 90'), { expected_interval_seconds: 90 }, 'its name before')
  const text = await run('devices add roof --battery --altitude 12.5 --owner anna@example.com --no-log')
  t.match(text, {
    status: 0,
    stderr: '',
    stdout: /device +roof\npassword +[0-9a-f]{64}\nThe password is shown only once/,
  })
  t.match(await json('devices show roof'), { battery: true, altitude_m: 12.5, owner: anna, log_switch: false })
  t.match(await run('devices add roof'), { status: 1, stdout: '', stderr: /name: is taken by another device/ })
  t.match(await run('devices show nobody'), { status: 1, stderr: 'barograph: device unknown\n' })
})

t.test('tags are set one by one, replaced together and taken away', async t => {
  await json('devices add tagged --tag site:berlin --tag room:1')
  t.match(await json('devices show tagged'), { tags: ['room:1', 'site:berlin'] })
  t.match(await json('devices set tagged --location-short Here'), { tags: ['room:1', 'site:berlin'] })
  t.match(await json('devices set tagged --tag site:bonn'), { tags: ['site:bonn'] })
  t.match(await json('devices list --search SITE:bonn'), [{ name: 'tagged' }])
  t.match(await json('devices set tagged --no-tags'), { tags: [] })
  await json('devices remove tagged')
})

t.test('a profile and a battery are set and taken away', async t => {
  t.match(await json('devices add cellular --profile cold_chain --battery-type li-primary --battery-cells 2'), {})
  const set = { profile: 'cold_chain', battery_type: 'li-primary', battery_cells: 2 }
  t.match(await json('devices show cellular'), set)
  t.match(await json('devices set cellular --location-short Here'), set)
  const none = { profile: 'none', battery_type: null, battery_cells: null }
  t.match(await json('devices set cellular --profile none --battery-type none --battery-cells none'), none)
  t.match(await run('devices set cellular --battery-type lead'), { status: 2, stderr: /Allowed choices are alkaline/ })
  await json('devices remove cellular')
})

t.test('coordinates are set and taken away, both at once', async t => {
  await json('devices add buoy --latitude -33.925 --longitude 18.425')
  const place = { latitude: -33.925, longitude: 18.425 }
  t.match(await json('devices set buoy --location-short Bay'), place)
  t.match(await json('devices set buoy --latitude none --longitude none'), { latitude: null, longitude: null })
  await json('devices remove buoy')
})

t.test('a device is changed by what is said, and by nothing else', async t => {
  t.match(await json('devices set roof --log --no-battery --altitude none --location-short Roof'), {
    name: 'roof',
    log_switch: true,
    battery: false,
    altitude_m: null,
    location_short: 'Roof',
    owner: anna,
  })
  const limits = { temperature: { max: 60 }, pressure: { spike: null } }
  t.match(await json(`devices set roof --limits ${JSON.stringify(limits)}`), { quality_limits: limits, name: 'roof' })
  t.match(await run('devices set roof --limits {'), { status: 2, stderr: /Expected JSON such as/ })
  t.match(await run('devices show roof'), {
    stdout: /^quality_limits +\{"temperature":\{"max":60\},"pressure":\{"spike":null\}\}$/m,
  })
  t.match(await json('devices set roof --limits none'), { quality_limits: null })
  t.match(await json('devices set roof --name attic'), { name: 'attic', location_short: 'Roof' })
  t.match(await run('devices set attic --name roof --no-log'), { status: 0, stdout: /^name +roof$/m })
})

t.test('a password is replaced without a gap, or at once', async t => {
  const first = (await json('devices add shed')) as { password: string }
  const second = (await json('devices rotate shed')) as { password: string }
  t.match(second, { device: 'shed', password, old_password_until: String })
  t.equal(await logsWith('shed', first.password), 200)
  t.equal(await logsWith('shed', second.password), 200)
  const third = await run('devices rotate shed --now')
  t.match(third, { status: 0, stdout: /The old password is revoked/ })
  t.equal(await logsWith('shed', first.password), 401)
  t.equal(await logsWith('shed', second.password), 401)
  const shown = /password +([0-9a-f]{64})/.exec(third.stdout)?.[1] ?? ''
  t.equal(await logsWith('shed', shown), 200)
  t.match(await run('devices remove shed'), { status: 0, stdout: /^removed shed/ })
  t.equal(await logsWith('shed', shown), 401, 'the next request is refused')
})

t.test('devices come from a file and their passwords go into one', async t => {
  const file = join(folder, 'devices.csv')
  const names = Array.from({ length: 120 }, (_, at) => `hall ${String(at).padStart(3, '0')}`)
  const rows = names.map((name, at) => `"${name}",Hall,yes,${at % 2 === 0 ? '' : at},no`)
  writeFileSync(file, `\ufeffname,location_short,log_switch,altitude_m,battery\r\n${rows.join('\r\n')}\r\n`)
  const output = join(folder, 'passwords.csv')
  const made = await run(`devices import ${file} --output ${output}`)
  t.match(made, { status: 0, stdout: '', stderr: `added 120 devices; their passwords are in ${output}\n` })
  t.equal(statSync(output).mode & 0o777, 0o600)
  const lines = readFileSync(output, 'utf8').trim().split('\n')
  t.equal(lines.length, 121)
  t.equal(lines[0], 'device,password')
  const [, device = '', secret = ''] = /^"(.*)",([0-9a-f]{64})$/.exec(lines[120] ?? '') ?? []
  t.equal(device, 'hall 119')
  t.equal(await logsWith(device, secret), 200)
  t.match(await run(`devices import ${file} --output ${output}`), { status: 1, stderr: /already exists/ })
  const again = await run(`devices import ${file}`)
  t.match(again, { status: 1, stderr: /added 0 devices\nbarograph: name taken\n {2}\[0\].name: is taken/ })
  const piped = await run('devices import - --json', `name,owner\nporch,\n"a ""b"",c",${anna}\n`)
  t.match(JSON.parse(piped.stdout), [
    { device: 'porch', password },
    { device: 'a "b",c', password },
  ])
  t.match(piped.stderr, /added 2 devices; their passwords are shown only once/)

  const listed = (await json('devices list')) as { name: string }[]
  t.equal(listed.length, 124, 'all pages')
  t.strictSame(
    ((await json('devices list --search HALL')) as { name: string }[]).map(({ name }) => name),
    names,
  )
  t.match(await run('devices list --search porch'), {
    status: 0,
    stdout: /^name +location +log +last seen +password\nporch +- +yes +never +current\n$/,
  })
  t.match(await run('devices list --search nowhere'), { status: 0, stdout: 'no devices\n' })
})

t.test('the status and the doctor tell how it is', async t => {
  // QuestDB is up a little before readings go to it.
  await until('the service is ready', async () => {
    const response = await fetch(`${service.url}/health/ready`)
    return ((await response.json()) as { status: string }).status === 'ok'
  })
  t.match(await json('status'), {
    devices: 124,
    questdb: { kind: 'own', state: 'up', commit_mode: 'sync', version: String },
    postgres: { kind: 'own', state: 'up' },
    dead_letters: 0,
    disk: { path: service.dataDirectory },
  })
  const { stdout } = await run('status')
  t.match(stdout, /QuestDB +[\d.]+, managed, up\n/)
  t.match(stdout, /points +0 accepted since the start, none waiting, 0 dead letters\njournal of points +[\d.]+ \w+ of/)
  const doctor = await run('doctor')
  t.match(doctor, { status: 0, stderr: '' }, doctor.stdout)
  t.match(doctor.stdout, /ok +service +ok at http/)
  t.match(doctor.stdout, /ok +admin token +accepted by the server/)
  t.match(doctor.stdout, /ok +points +none waiting/)
  const wrongToken = join(folder, 'token')
  writeFileSync(wrongToken, 'b'.repeat(64))
  t.match(await run(`status --token-file ${wrongToken}`), { status: 1, stderr: /rejected the admin token/ })
  t.match(await run(`status --url ${service.url}/`), { status: 0 }, 'an address may end in a slash')
})

t.test('dead letters are listed and sent again', async t => {
  t.match(await run('dead-letters list'), { status: 0, stdout: 'no dead letters\n' })
  t.strictSame(await json('dead-letters list'), [])
  t.strictSame(await json('dead-letters replay'), { replayed: 0, damaged: 0 })
  t.match(await run('dead-letters replay 4711'), { status: 0, stdout: 'replayed 0 dead letters\n' })
  t.match(await run('dead-letters replay --table points'), { status: 0, stdout: 'replayed 0 dead letters\n' })
  t.strictSame(await json('dead-letters discard 4711 --table points'), { discarded: 0 })
  t.match(await run('dead-letters list --table stations'), {
    status: 2,
    stderr: /Allowed choices are readings, points/,
  })
})

t.test('a damaged dead letter is listed as such, skipped by a replay and discarded', async t => {
  writeFileSync(join(service.dataDirectory, 'points-journal', 'dead-0000000000000009.json'), '{"id":9,')
  t.match(await run('dead-letters list'), {
    status: 0,
    stdout: /^points +9 +damaged: dead-0000000000000009\.json: the file is not JSON$/m,
  })
  t.match(await run('dead-letters replay'), {
    status: 0,
    stdout: 'replayed 0 dead letters\n',
    stderr: 'skipped 1 damaged dead letters: see barograph dead-letters list\n',
  })
  t.strictSame(await json('dead-letters discard 9 --table points'), { discarded: 1 })
  t.strictSame(await json('dead-letters list'), [])
})

t.test('the values of a metric of a device are erased, and the device stays', async t => {
  const { password: secret } = (await json('devices add lab')) as { password: string }
  t.equal((await service.put('lab', secret, { ...reading('lab'), co2: 640 })).status, 200)
  t.match(await json('devices erase lab --metric co2'), { device: 'lab', metric: 'co2', state: /waiting|running/ })
  const report = async () => (await json('devices erase lab --metric co2 --report')) as { state: string }
  await until('it is done', async () => (await report()).state === 'done')
  t.match(await json('devices show lab'), { name: 'lab' })
  t.match(await run('devices erase lab --metric pressure'), { status: 1, stderr: /erase the device/ })
  t.match(await run('devices erase lab --metric ../x'), { status: 2, stderr: /"\.\.\/x" is no name of a metric/ })
  t.equal((await service.put('lab', secret, { ...reading('lab'), co2: 641 })).status, 200, 'as a new one')
  await json('devices remove lab')
})

t.test('a device is erased with its readings', async t => {
  t.match(await json('devices erase kitchen'), {
    device: 'kitchen',
    state: /waiting|running/,
    symbols: [/^kitchen-\d+$/],
  })
  t.match(await run('devices show kitchen'), { status: 1, stderr: /device unknown/ })
  const report = async () => (await json('devices erase kitchen --report')) as { state: string }
  await until('it is done', async () => (await report()).state === 'done')
  t.match(await report(), { rows: 1, error: null })
  t.match(await run('devices erase kitchen --report'), { stdout: /^state +done$/m })
})

t.test('accounts are added, given roles, disabled and enabled', async t => {
  const link = /^http:\/\/127\.0\.0\.1:\d+\/reset\?token=[\w-]{43}$/
  t.match(await json('accounts add ada@example.com --name Ada'), { email: 'ada@example.com', password_link: link })
  t.match(await run('accounts add grace@example.com --role administrator'), {
    status: 0,
    stdout:
      /^id +\d+\nemail +grace@example.com\n[\s\S]*Link that sets the password[^\n]*\nhttp:[^\n]*\?token=[\w-]{43}\n$/,
  })
  for (const command of ['accounts role grace@example.com user', 'accounts disable grace@example.com']) {
    t.match(await run(command), { status: 1, stderr: /the last active administrator stays one/ })
  }
  t.match(await json('accounts verify grace@example.com'), { email_verified: /^\d{4}-/ })
  t.match(await json('accounts add known@example.com --verified'), { email_verified: /^\d{4}-/ })
  const phrase = 'correct horse battery'
  t.match(await run('accounts add bob@example.com --password-stdin', `${phrase}\n`), {
    status: 0,
    stdout: /^role +user$/m,
  })
  const login = async (email: string) => {
    const body = JSON.stringify({ email, password: phrase })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${service.url}/v1/auth/login`, { method: 'POST', headers, body })).status
  }
  t.equal(await login('bob@example.com'), 200)
  t.match(await run('accounts add x@example.com --password-stdin'), { status: 2, stderr: /no password/ })
  t.match(await run('accounts add x@example.com --role king'), { status: 2, stderr: /Allowed choices are user/ })
  t.match(await json('accounts role BOB@example.com operator'), { role: 'operator' })
  const { id } = (await json('accounts role ada@example.com operator')) as { id: number }
  t.match(await json('accounts list --search bob'), [{ email: 'bob@example.com', role: 'administrator' }])
  t.match(await run('accounts disable bob@example.com'), { status: 0, stdout: /^is_active +false$/m })
  t.equal(await login('bob@example.com'), 403)
  t.match(await json('accounts enable bob@example.com'), { is_active: true })
  t.match(await run(`accounts role ${id} operator`), { status: 0, stdout: /^role +operator$/m })
  t.match(await run('accounts role nobody@example.com user'), {
    status: 1,
    stderr: /no account has the address nobody/,
  })
  t.match(await run('accounts list --search ada'), {
    status: 0,
    stdout: new RegExp(`^id +e-mail +name +role.*\\n${id} +ada@example.com +Ada +operator +no +yes +no +-\\n$`),
  })
  t.match(await json('accounts add view@example.com --viewer'), { role: 'user', viewer: true })
  t.match(await run('accounts viewer VIEW@example.com off'), { status: 0, stdout: /^viewer +false$/m })
  t.match(await json(`accounts viewer ${id} on`), { id, viewer: true })
  t.match(await run('accounts viewer view@example.com maybe'), { status: 2, stderr: /Allowed choices are on, off/ })
  t.match(await run('accounts list --search nowhere'), { status: 0, stdout: 'no accounts\n' })
})

t.test('people are invited, and invitations listed and revoked', async t => {
  const link = /^http:\/\/127\.0\.0\.1:\d+\/sign-up\?token=[\w-]{43}$/
  t.match(await run('accounts invitations'), { status: 0, stdout: 'no invitations\n' })
  const invited = await json('accounts invite ivy@example.com --viewer --role administrator')
  t.match(invited, { email: 'ivy@example.com', role: 'administrator', viewer: true, link })
  t.match(await run('accounts invite jo@example.com --no-mail'), {
    status: 0,
    stdout:
      /^id +\d+\nemail +jo@example.com\n[\s\S]*Link that makes the account[^\n]*\nhttp:[^\n]*\?token=[\w-]{43}\n$/,
  })
  t.match(await run('accounts invite x@example.com --role operator'), {
    status: 2,
    stderr: /Allowed choices are user, a/,
  })
  t.match(await run('accounts invitations'), {
    stdout:
      /^id +e-mail +role +viewer +invited by +expires\n\d+ +jo@example.com +user +no +local admin token +\d{4}-[^\n]+\n\d+ +ivy@/,
  })
  t.match(await run('accounts revoke-invitation JO@example.com'), { stdout: 'revoked the invitation JO@example.com\n' })
  const { id } = invited as { id: number }
  t.match(await json(`accounts revoke-invitation ${id}`), { revoked: id })
  t.match(await run('accounts revoke-invitation jo@example.com'), {
    status: 1,
    stderr: /no open invitation has the address/,
  })
})

t.test('tenants are added, given new secrets, disabled and enabled', async t => {
  t.match(await run('tenants list'), { status: 0, stdout: 'no tenants\n' })
  t.match(await run('tenants add acme Acme'), { stdout: /^secret +[\w-]{43}$[\s\S]*The secret is shown only once/m })
  t.match(await json('tenants add other Other'), { slug: 'other', secret: /^[\w-]{43}$/ })
  t.match(await json('tenants rotate acme'), { secret: String, old_secret_until: String })
  t.match(await json('tenants rotate acme --now'), { secret: String, old_secret_until: null })
  t.match(await run('tenants disable acme'), { status: 0, stdout: /^is_active +false$/m })
  t.match(await run('tenants list'), { stdout: /^slug +name.*\nacme +Acme +no +-\nother +Other +yes +-\n$/ })
  t.match(await json('tenants enable acme'), { is_active: true })
  t.match(await run('tenants rotate ../devices'), { status: 2, stderr: /is not a valid slug/ })
})

t.test('the audit is shown newest first', async t => {
  const entries = (await json('audit --limit 3')) as { action: string }[]
  t.strictSame(
    entries.map(({ action }) => action),
    ['tenant.change', 'tenant.change', 'tenant.rotate'],
  )
  const all = (await json('audit --limit 100000')) as { id: number }[]
  t.ok(all.length > 100, 'all pages')
  t.equal(new Set(all.map(({ id }) => id)).size, all.length)
  t.match(await run('audit --limit 1'), {
    stdout:
      /^time +by +action +subject +details\n\S+ +local admin token +tenant.change +tenant acme +\{"is_active":true\}\n$/,
  })
  t.match(await run('audit --limit 0'), { status: 2, stderr: /Expected a whole number/ })
})

t.test('stations are added, listed, changed and removed', async t => {
  t.match(await call('stations', 'list'), { status: 0, stdout: 'no stations\n' })
  const words = ['--city', 'Delhi', '--country', 'in', '--latitude', '28.6257', '--longitude', '-77', '--outdoors']
  const added = await call('stations', 'add', 'IN-1', 'M4', ...words, '--private')
  t.match(added, { status: 0, stdout: /^sn +IN-1\nmodel +M4\ncity +Delhi\ncountry +IN\n/, stderr: '' })
  t.match(await callJson('stations', 'add', 'IN-2', 'M4', '--timezone', 'Asia/Kolkata'), {
    sn: 'IN-2',
    timezone: 'Asia/Kolkata',
    outdoors: null,
    private: false,
    owner: null,
  })
  t.strictSame((await call('stations', 'list')).stdout.split('\n'), [
    'sn    model  city   private  last data',
    'IN-1  M4     Delhi  yes      never',
    'IN-2  M4     -      no       never',
    '',
  ])
  const found = await callJson('stations', 'list', '--search', 'DELHI')
  t.match(found, [{ sn: 'IN-1', latitude: 28.6257, longitude: -77, outdoors: true, private: true }])
  const set = ['--city', '', '--no-private', '--no-outdoors', '--model', 'M5']
  t.match(await callJson('stations', 'set', 'IN-1', ...set), {
    model: 'M5',
    city: null,
    private: false,
    outdoors: false,
  })
  t.match(await call('stations', 'remove', 'IN-1'), { status: 0, stdout: /^removed IN-1; its points/ })
  t.match(JSON.parse((await call('stations', 'remove', 'IN-1', '--report', '--json')).stdout), {
    sn: 'IN-1',
    error: null,
  })
  t.match(await callJson('stations', 'remove', 'IN-2'), { removed: 'IN-2' })
  t.match(await call('stations', 'list'), { stdout: 'no stations\n' })
})

t.test('a change of stations that cannot be made is told in a sentence', async t => {
  t.match(await call('stations', 'set', 'IN-9'), { status: 2, stderr: /nothing to change/ })
  t.match(await call('stations', 'set', '..', '--city', 'x'), { status: 2, stderr: /is not a valid sn/ })
  t.match(await call('stations', 'set', 'IN-9', '--model', ''), { status: 2, stderr: /Expected a text/ })
  const bad = await call('stations', 'add', '-', 'M4', '--owner', 'nobody@example.com')
  t.match(bad, { status: 1, stderr: /sn: must be 1 to 64/ })
  await call('stations', 'add', 'IN-3', 'M4')
  t.match(await call('stations', 'add', 'IN-3', 'M4'), { status: 1, stderr: /sn: is taken by another station/ })
  const nobody = await call('stations', 'set', 'IN-3', '--owner', 'nobody@example.com')
  t.match(nobody, { status: 1, stderr: /owner: is no account/ })
})

const alerts = (...words: string[]) => call('alerts', ...words)
const alertsJson = (...words: string[]) => callJson('alerts', ...words)

t.test('channels are added, listed, changed and removed, and their addresses are not shown', async t => {
  t.match(await alerts('channels', 'list'), { status: 0, stdout: 'no channels\n' })
  const added = await alerts('channels', 'add', 'hook', 'webhook', 'https://example.com/secret')
  t.match(added, { status: 0, stdout: /^id +1\n[\s\S]*\nSecret, shown only once:\nwhsec_/ })
  t.match(await alertsJson('channels', 'add', 'on-call', 'email', 'ada@example.com'), {
    id: 2,
    kind: 'email',
    owner: null,
  })
  const chat = ['alerts', 'channels', 'add', 'chat', 'slack', '-']
  t.match(await barograph(chat, { environment, stdin: 'https://example.com/services/T1\n' }), { status: 0 })
  const list = (await alerts('channels', 'list')).stdout
  t.match(list, /^1 +- +webhook +enabled +hook +example\.com$/m)
  t.notMatch(list, 'secret')
  t.match(await alertsJson('channels', 'set', '2', '--name', 'phone', '--disable'), { name: 'phone', enabled: false })
  t.match(await alertsJson('channels', 'rotate', '1'), { secret: /^whsec_/ })
  t.match(await alerts('channels', 'remove', '3'), { status: 0, stdout: 'removed channel 3\n' })
  t.match(await alerts('channels', 'set', '2'), { status: 2, stderr: /nothing to change/ })
  t.match(await alerts('channels', 'add', 'x', 'pager', 'y'), { status: 2, stderr: /webhook, email/ })
  t.match(await alerts('channels', 'add', 'x', 'webhook', 'http://127.0.0.1/'), { status: 1 })
})

const condition = '{"kind":"above","metric":"temperature","value":-15,"hysteresis":1}'

t.test('rules are added, listed, changed and removed', async t => {
  t.match(await alerts('rules', 'list'), { status: 0, stdout: 'no rules\n' })
  const words = [
    '--condition',
    condition,
    '--device',
    'freezer',
    '--for',
    '10m',
    '--severity',
    'critical',
    '--channel',
    '1',
    '--channel',
    '2',
  ]
  t.match(await alertsJson('rules', 'add', 'Freezer', ...words), {
    id: 1,
    owner: null,
    selector: { devices: ['freezer'] },
    condition: JSON.parse(condition),
    for_seconds: 600,
    severity: 'critical',
    channels: [1, 2],
  })
  t.match(
    await alertsJson('rules', 'add', 'Silent', '--condition', '{"kind":"silent"}', '--tag', 'site:berlin', 'room:*'),
    {
      selector: { tags: ['site:berlin', 'room:*'] },
    },
  )
  t.match((await alerts('rules', 'list')).stdout, /^1 +- +critical +yes +1 2 +Freezer +\{"kind":"above"/m)
  t.match(await alertsJson('rules', 'set', '1', '--disable', '--no-channels', '--keep-firing', '1h'), {
    enabled: false,
    channels: [],
    keep_firing_seconds: 3600,
  })
  t.match(await alertsJson('rules', 'set', '1', '--enable', '--group-by', 'site'), { enabled: true, group_by: 'site' })
  t.match(await alertsJson('rules', 'set', '1', '--group-by', 'none'), { group_by: null })
  t.match(await alerts('rules', 'remove', '2'), { status: 0, stdout: 'removed rule 2\n' })
  t.match(await alerts('rules', 'add', 'x', '--condition', 'hot', '--all'), { status: 2, stderr: /JSON object/ })
  t.match(await alerts('rules', 'add', 'x', '--for', 'soon'), { status: 2, stderr: /duration/ })
  t.match(await alerts('rules', 'set', '1'), { status: 2, stderr: /nothing to change/ })
})

t.test('rules are exported and imported, and the same file changes nothing', async t => {
  await alerts('rules', 'set', '1', '--channel', '1')
  const file = join(folder, 'rules.json')
  t.match(await alerts('export', '--output', file), { status: 0, stdout: '' })
  t.equal((await alerts('export')).stdout, readFileSync(file, 'utf8'))
  t.match(await alerts('import', file), { status: 0, stdout: '0 added, 0 changed, 1 unchanged, 0 removed\n' })
  const rules = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...rules, rules: [{ ...rules.rules[0], name: 'Freezer 2' }] }))
  t.match(await alertsJson('import', file, '--prune'), { added: 1, changed: 0, unchanged: 0, removed: 1 })
  t.match(await alerts('import', join(folder, 'none.json')), { status: 1, stderr: /cannot be read/ })
  writeFileSync(file, '[]')
  t.match(await alerts('import', file), { status: 1, stderr: /is no JSON object/ })
})

t.test('silences are added, listed and removed', async t => {
  t.match(await alerts('silences', 'list'), { status: 0, stdout: 'no silences\n' })
  t.match(await alertsJson('silences', 'add', '--device', 'freezer', '--for', '2h', '--reason', 'defrosting'), {
    id: 1,
    selector: { devices: ['freezer'] },
    reason: 'defrosting',
    is_active: true,
  })
  const weekly = '[{"days":[6,7],"from":"22:00","until":"06:00"}]'
  t.match(await alertsJson('silences', 'add', '--all', '--weekly', weekly), { until: null, weekly: JSON.parse(weekly) })
  t.match((await alerts('silences', 'list')).stdout, /^1 +yes .* defrosting$/m)
  t.match(await alerts('silences', 'remove', '1'), { status: 0, stdout: 'removed silence 1\n' })
  t.match(await alerts('silences', 'add', '--for', '2h'), { status: 2, stderr: /--device, --tag or --all/ })
  t.match(await alerts('silences', 'add', '--all', '--weekly', '{}'), { status: 2, stderr: /JSON array/ })
})

t.test('alerts and notifications are listed', async t => {
  t.match(await alerts('list', '--state', 'firing', '--tag', 'site:berlin'), { status: 0, stdout: 'no alerts\n' })
  t.strictSame(await alertsJson('list'), [])
  t.match(await alerts('acknowledge', 'x'), { status: 2, stderr: /whole number/ })
  t.match(await alerts('deliveries', 'list', '--state', 'waiting'), { status: 0, stdout: 'no notifications\n' })
})

/** More than the service takes in one change. */
const halls = Array.from({ length: 502 }, (_, at) => `hall-${String(at).padStart(3, '0')}`)
const hallRows = ['device,tags', ...halls.map(name => `${name},site:berlin`), 'gates,site:berlin2;room:1', 'depot,']

async function withLog(isOn: boolean): Promise<string[]> {
  const listed = (await json('devices list')) as { name: string; log_switch: boolean }[]
  const names = listed.filter(({ log_switch }) => log_switch === isOn).map(({ name }) => name)
  return names.filter(name => /^(hall-|gates$|depot$)/.test(name))
}

t.test('devices are suspended and resumed by name, and each is told of', async t => {
  const made = await run('devices import -', `${hallRows.join('\n')}\n`)
  t.equal(made.status, 0, made.stderr)
  t.match(await run('devices suspend depot gates depot'), { status: 0, stdout: 'depot  suspended\ngates  suspended\n' })
  t.strictSame(await withLog(false), ['depot', 'gates'])
  const resumed = await run('devices resume gates nobody depot')
  t.match(resumed, {
    status: 1,
    stdout: 'gates   resumed\nnobody  not resumed: device unknown\ndepot   resumed\n',
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
  t.strictSame(await withLog(true), ['depot', 'gates'])
  t.strictSame(await json('devices resume --tagged site:*'), { done: 503, failed: [] })
  t.strictSame(await withLog(false), [])
  t.match(await run('devices suspend --tagged site:berlin --tagged room:1'), {
    status: 1,
    stderr: 'barograph: no device has site:berlin and room:1\n',
  })
})

t.test('tags are given and taken away', async t => {
  t.match(await run('devices tag room:2 gates depot'), { status: 0, stdout: 'gates  tagged\ndepot  tagged\n' })
  t.match(await json('devices show gates'), { tags: ['room:2', 'site:berlin2'] })
  t.match(await run('devices untag room:* --tagged site:berlin2'), { status: 0, stdout: 'gates  untagged\n' })
  t.match(await json('devices show gates'), { tags: ['site:berlin2'] })
  t.match(await json('devices show depot'), { tags: ['room:2'] })
})

t.test('new passwords go to a file of the owner, or are shown once', async t => {
  const output = join(folder, 'rotated.csv')
  const rotated = await run(`devices rotate depot nobody gates --now --output ${output}`)
  t.match(rotated, { status: 1, stdout: '' })
  t.equal(
    rotated.stderr,
    `2 new passwords, in ${output}\n"nobody": device unknown\nbarograph: not done for 1 of 3 devices\n`,
  )
  t.equal(statSync(output).mode & 0o777, 0o600)
  const file = readFileSync(output, 'utf8')
  const [, depot = '', gates = ''] =
    /^device,password\n"depot",([0-9a-f]{64})\n"gates",([0-9a-f]{64})\n$/.exec(file) ?? []
  const reading = { device: 'gates', temperature: 20, humidity: 50, pressure: 1000 }
  t.equal((await service.put('gates', gates, reading)).status, 200)
  t.equal((await service.put('gates', depot, reading)).status, 401)
  t.match(await run(`devices rotate depot --output ${output}`), { status: 1, stderr: /already exists/ })
  t.equal(readFileSync(output, 'utf8'), file)
  const shown = await run('devices rotate --tagged site:berlin2')
  t.match(shown, { status: 0, stderr: '1 new password, shown only once\n' })
  t.match(shown.stdout, /^device,password\n"gates",[0-9a-f]{64}\n$/)
  t.equal((await service.put('gates', gates, reading)).status, 200, 'the old one is valid for a while')
})

t.test('devices are named or chosen by tags', async t => {
  const usage = { status: 2, stdout: '', stderr: /name the devices or choose them with --tagged/ }
  for (const words of ['suspend', 'suspend gates --tagged site:berlin', 'tag room:1', 'rotate']) {
    t.match(await run(`devices ${words}`), usage, words)
  }
  t.match(await run('devices suspend --tagged berlin'), {
    status: 2,
    stderr: 'barograph: --tagged berlin: must be a key, a colon and a value\n',
  })
})
