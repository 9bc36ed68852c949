/** The command line against a real service: what an operator does in a day. */

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { barograph, type CommandRun } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
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

const { id: anna } = (await json('accounts add anna@example.com')) as { id: number }

const reading = (device: string) => ({ device, temperature: 20, humidity: 50, pressure: 1000 })

async function logsWith(device: string, secret: string): Promise<number> {
  return (await service.put(device, secret, reading(device))).status
}

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
  t.match(await run('devices add a:b'), { status: 1, stderr: /name: must not contain ":", "\/", "\+" or "#"/ })
  t.match(await run('devices show nobody'), { status: 1, stderr: 'barograph: device unknown\n' })
})

t.test('tags are set one by one, replaced together and taken away', async t => {
  await json('devices add tagged --tag site:berlin --tag room:1')
  t.match(await json('devices show tagged'), { tags: ['room:1', 'site:berlin'] })
  t.match(await json('devices set tagged --location-short Here'), { tags: ['room:1', 'site:berlin'] })
  t.match(await json('devices set tagged --tag site:bonn'), { tags: ['site:bonn'] })
  t.match(await json('devices list --search SITE:bonn'), [{ name: 'tagged' }])
  t.match(await json('devices set tagged --no-tags'), { tags: [] })
  t.match(await run('devices set tagged --tag bonn'), {
    status: 1,
    stderr: /tags\[0\]: must be a key, a colon and a value/,
  })
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
  t.match(await run('devices set cellular --battery-cells 25'), { status: 1, stderr: /battery_cells/ })
  await json('devices remove cellular')
})

t.test('coordinates are set and taken away, both at once', async t => {
  await json('devices add buoy --latitude -33.925 --longitude 18.425')
  const place = { latitude: -33.925, longitude: 18.425 }
  t.match(await json('devices set buoy --location-short Bay'), place)
  t.match(await run('devices set buoy --latitude 1'), { status: 1, stderr: /longitude: must be given with the other/ })
  t.match(await run('devices set buoy --latitude 91 --longitude 0'), { status: 1, stderr: /latitude/ })
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
  t.match(await run('devices set roof --limits {"rain":{}}'), { status: 1, stderr: /quality_limits/ })
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
  t.match(await run('devices remove shed'), { status: 1, stderr: 'barograph: device unknown\n' })
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
  t.match(await run('devices erase lab --metric co2'), { status: 1, stderr: /no metric of this name/ })
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
  t.match(await run('accounts add bob@example.com'), { status: 1, stderr: /email: belongs to another account/ })
  t.match(await run('accounts add x@example.com --password-stdin', 'short\n'), { status: 1, stderr: /password: must/ })
  t.match(await run('accounts add x@example.com --password-stdin'), { status: 2, stderr: /no password/ })
  t.match(await run('accounts add x@example.com --role king'), { status: 2, stderr: /Allowed choices are user/ })
  t.match(await json('accounts role BOB@example.com operator'), { role: 'operator' })
  t.match(await run('accounts disable bob@example.com'), { status: 1, stderr: /the operator is neither demoted/ })
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
  t.match(await run('accounts role 999999 user'), { status: 1, stderr: 'barograph: account unknown\n' })
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
  t.match(await run('accounts invite ada@example.com'), { status: 1, stderr: /email: belongs to an account/ })
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
  t.match(await run(`accounts revoke-invitation ${id}`), { status: 1, stderr: 'barograph: invitation unknown\n' })
})

t.test('tenants are added, given new secrets, disabled and enabled', async t => {
  t.match(await run('tenants list'), { status: 0, stdout: 'no tenants\n' })
  t.match(await run('tenants add acme Acme'), { stdout: /^secret +[\w-]{43}$[\s\S]*The secret is shown only once/m })
  t.match(await json('tenants add other Other'), { slug: 'other', secret: /^[\w-]{43}$/ })
  t.match(await run('tenants add acme A'), { status: 1, stderr: /slug: is taken by another tenant/ })
  t.match(await json('tenants rotate acme'), { secret: String, old_secret_until: String })
  t.match(await json('tenants rotate acme --now'), { secret: String, old_secret_until: null })
  t.match(await run('tenants disable acme'), { status: 0, stdout: /^is_active +false$/m })
  t.match(await run('tenants list'), { stdout: /^slug +name.*\nacme +Acme +no +-\nother +Other +yes +-\n$/ })
  t.match(await json('tenants enable acme'), { is_active: true })
  t.match(await run('tenants rotate nobody'), { status: 1, stderr: 'barograph: tenant unknown\n' })
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
