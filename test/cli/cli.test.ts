/** The command line against a real service: a day of an operator. */

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { barograph, type CommandRun } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { makePerson } from '../support/people.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const service = await startService(t, { environment: { RANGE_PRESSURE: '500..1200' } })
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const folder = temporaryFolder(t)
const password = /^[0-9a-f]{64}$/

const run = (words: string, stdin = ''): Promise<CommandRun> => barograph(words.split(' '), { environment, stdin })

// biome-ignore lint/suspicious/noExplicitAny: what a command prints has no type
async function json(words: string): Promise<any> {
  const { status, stdout, stderr } = await run(`${words} --json`)
  if (status !== 0) throw new Error(`${words}: ${stderr}`)
  return JSON.parse(stdout)
}

const reading = (device: string) => ({ device, temperature: 20, humidity: 50, pressure: 1000 })
const logsWith = async (device: string, secret: string) => (await service.put(device, secret, reading(device))).status

const { id: anna } = await json('accounts add anna@example.com')
const kay = await makePerson(service, { isUnverified: true })

t.test('rejections are printed newest first, with equal ones once', async t => {
  const secret = await service.addDevice('yard')
  t.match(await run('rejections'), { status: 0, stdout: /^0 rejected since \S+Z\n$/, stderr: '' })
  for (const temperature of ['warm', 200, 200]) await service.put('yard', secret, { device: 'yard', temperature })
  const lines = (await run('rejections')).stdout.trimEnd().split('\n')
  t.match(lines, [
    /^3 rejected since /,
    /^latest +way +device +sender +count +reason$/,
    /Z +put +yard +device yard +2 +.*temperature.*must be between/,
    /Z +put +yard +device yard +1 +.*temperature.*must be a number/,
  ])
  t.strictSame((await json('rejections --way mqtt')).rejections, [])
  await run('devices remove yard')
})

t.test('metrics are listed, added, changed and removed', async t => {
  t.strictSame((await run('metrics list')).stdout.split('\n'), [
    'name                title            unit  kind   range',
    'temperature         Temperature      °C    gauge  -90..85',
    'humidity            Humidity         %     gauge  0..103',
    'pressure            Pressure         hPa   gauge  500..1200',
    'battery_voltage     Battery voltage  V     gauge  0..100',
    'battery_percentage  Battery charge   %     gauge  0..110',
    '',
  ])
  const words = '--title Sap --unit l/h --kind rate --decimals 3 --min -1 --max 1e3 --quality {"spike":5}'
  const added = await run(`metrics add sap_flow ${words}`)
  t.match(added, { status: 0, stdout: /^name +sap_flow\ntitle +Sap\nunit +L\/h\n/, stderr: '' })
  const set = '--unit none --max none --quality none --color #00ff00 --position 0'
  const changed = { unit: null, max: null, min: -1, quality: null, color: '#00ff00', decimals: 3 }
  t.match(await json(`metrics set sap_flow ${set}`), changed)
  t.match((await run('metrics list --search SAP')).stdout, /^sap_flow +Sap +- +rate +-1\.\.$/m)
  t.match(await run('metrics remove sap_flow'), { status: 0, stdout: 'removed sap_flow\n' })
  const catalogue = await run('metrics list --catalogue --search pm2_5')
  t.match(catalogue.stdout, /^pm25 +PM2\.5 +µg\/m³ +gauge +-15\.\.10000 +pm2_5/m)
})

t.test('keys are added, listed and revoked', async t => {
  const words = `keys add --account ${kay.email} --name script --scope ingest --scope read --expires-in-days 90`
  t.match(await run(words), { status: 1, stderr: /^barograph: keys that send .*accounts verify/ })
  t.match(await run(`accounts verify ${kay.email}`), { status: 0 })
  const made = await run(`${words} --create-devices`)
  t.match(made, { status: 0, stderr: '', stdout: /^scopes +read ingest$[\s\S]*once:\nbarograph_key_\w+\n$/m })
  const tags = '--tag site:berlin --scope read ingest --tag room:1'
  const limited = await json(`keys add --account ${kay.email} --name a\u202eb ${tags}`)
  t.match(limited, { scopes: ['read', 'ingest'], tags: ['room:1', 'site:berlin'] })
  const { stdout } = await run(`keys list --account ${kay.email}`)
  const row = `${kay.email} +${limited.prefix} +read ingest +room:1, site:berlin +active .*a\\\\u202eb$`
  t.match(stdout, new RegExp(`^id +account +prefix +scopes +tags +state +last used +name\n[^]*${row}`, 'm'))
  t.match(await run(`keys revoke ${limited.id}`), { status: 0, stdout: `revoked key ${limited.id}\n` })
})

t.test('a new device may log, and its password is printed once', async t => {
  const place = '--location-short Kitchen --location-desc downstairs --expected-interval 60'
  const added = await json(`devices add kitchen ${place}`)
  t.strictSame(Object.keys(added), ['device', 'password'])
  t.equal(await logsWith('kitchen', added.password), 200)
  const shown = { location_short: 'Kitchen', location_desc: 'downstairs', expected_interval_seconds: 60 }
  t.match(await json('devices show kitchen'), { name: 'kitchen', ...shown, last_seen: String })
  t.match(await json('devices set kitchen --interval 90'), { expected_interval_seconds: 90 }, 'its name before')
  const text = await run('devices add roof --battery --altitude 12.5 --owner anna@example.com --no-log')
  const stdout = /device +roof\npassword +[0-9a-f]{64}\nThe password is shown only once/
  t.match(text, { status: 0, stderr: '', stdout })
  t.match(await json('devices show roof'), { battery: true, altitude_m: 12.5, owner: anna, log_switch: false })
  t.match(await run('devices add roof'), { status: 1, stdout: '', stderr: /name: is taken by another device/ })
  t.match(await run('devices show nobody'), { status: 1, stderr: 'barograph: device unknown\n' })
})

t.test('a device changes only in the given fields', async t => {
  const others = { name: 'roof', owner: anna, altitude_m: 12.5 }
  for (const [words, set] of [
    ['--log --no-battery --location-short Roof', { log_switch: true, battery: false, location_short: 'Roof' }],
    ['--tag site:berlin --tag room:1', { tags: ['room:1', 'site:berlin'] }],
    ['--no-tags --metrics co2,temperature', { tags: [], metrics: ['co2', 'temperature'] }],
    ['--metrics none --latitude -33.925 --longitude 18.425', { metrics: null, latitude: -33.925 }],
    ['--latitude none --longitude none --battery-cells 2', { latitude: null, battery_cells: 2 }],
    ['--profile none --battery-type none --battery-cells none', { profile: 'none', battery_cells: null }],
    ['--limits {"pressure":{"spike":null}}', { quality_limits: { pressure: { spike: null } } }],
  ] as const) {
    t.match(await json(`devices set roof ${words}`), { ...others, ...set, location_short: 'Roof' }, words)
  }
  t.match((await run('devices show roof')).stdout, /^quality_limits +\{"pressure":\{"spike":null\}\}$/m)
  t.match(await json('devices set roof --limits none --name attic'), { name: 'attic', quality_limits: null })
  t.match(await run('devices set attic --name roof --no-log'), { status: 0, stdout: /^name +roof$/m })
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
  t.strictSame([lines.length, lines[0]], [121, 'device,password'])
  const [, secret = ''] = /^"hall 119",([0-9a-f]{64})$/.exec(lines[120] ?? '') ?? []
  t.equal(await logsWith('hall 119', secret), 200)
  t.match(await run(`devices import ${file} --output ${output}`), { status: 1, stderr: /already exists/ })
  const piped = await run('devices import - --json', `name,owner\nporch,\n"a ""b"",c",${anna}\n`)
  t.match(JSON.parse(piped.stdout), [{ device: 'porch', password }, { device: 'a "b",c' }])
  t.match(piped.stderr, /added 2 devices; their passwords are shown only once/)

  t.equal((await json('devices list')).length, 124, 'all pages')
  const found = await json('devices list --search HALL')
  t.strictSame(
    found.map(({ name }: { name: string }) => name),
    names,
  )
  const porch = /^name +location +state +log +last seen +password\nporch +- +\S+ +yes +never +current\n$/
  t.match(await run('devices list --search porch'), { status: 0, stdout: porch })
})

t.test('the status and the doctor report the state', async t => {
  // QuestDB is up a little before readings go to it.
  await until('the service is ready', async () => {
    const response = await fetch(`${service.url}/health/ready`)
    return ((await response.json()) as { status: string }).status === 'ok'
  })
  t.match(await json('status'), { devices: 124, questdb: { kind: 'own', state: 'up' } })
  const { stdout } = await run('status')
  t.match(stdout, /QuestDB +[\d.]+, managed, up\n/)
  t.match(stdout, /points +0 accepted since the start, none waiting, 0 dead letters\njournal of points +[\d.]+ \w+ of/)
  const doctor = await run('doctor')
  t.match(doctor, { status: 0, stderr: '' }, doctor.stdout)
  for (const line of ['service +ok at http', 'admin token +accepted by the server', 'points +none waiting'])
    t.match(doctor.stdout, new RegExp(`ok +${line}`))
  const wrongToken = join(folder, 'token')
  writeFileSync(wrongToken, 'b'.repeat(64))
  t.match(await run(`status --token-file ${wrongToken}`), { status: 1, stderr: /rejected the admin token/ })
  t.match(await run(`status --url ${service.url}/`), { status: 0 }, 'an address may end in a slash')
})

t.test('dead letters are listed, sent again and discarded, without a damaged one', async t => {
  t.match(await run('dead-letters list'), { status: 0, stdout: 'no dead letters\n' })
  t.strictSame(await json('dead-letters replay'), { replayed: 0, damaged: 0 })
  t.match(await run('dead-letters replay 4711 --table points'), { status: 0, stdout: 'replayed 0 dead letters\n' })
  writeFileSync(join(service.dataDirectory, 'points-journal', 'dead-0000000000000009.json'), '{"id":9,')
  const damaged = /^points +9 +damaged: dead-0000000000000009\.json: the file is not JSON$/m
  t.match(await run('dead-letters list'), { status: 0, stdout: damaged })
  t.match(await run('dead-letters replay'), {
    status: 0,
    stdout: 'replayed 0 dead letters\n',
    stderr: 'skipped 1 damaged dead letters: see barograph dead-letters list\n',
  })
  t.strictSame(await json('dead-letters discard 9 --table points'), { discarded: 1 })
  t.strictSame(await json('dead-letters list'), [])
})

t.test('a metric of a device is erased, then a device with its readings', async t => {
  await service.admin('POST', '/metrics', { name: 'co2' })
  const { password: secret } = await json('devices add lab')
  t.equal((await service.put('lab', secret, { ...reading('lab'), co2: 640 })).status, 200)
  t.match(await json('devices erase lab --metric co2'), { device: 'lab', metric: 'co2', state: /waiting|running/ })
  const report = (what: string) => json(`devices erase ${what} --report`)
  await until('the metric is erased', async () => (await report('lab --metric co2')).state === 'done')
  await json('devices remove lab')
  t.match(await json('devices erase kitchen'), { device: 'kitchen', symbols: [/^kitchen-\d+$/] })
  await until('the device is erased', async () => (await report('kitchen')).state === 'done')
  t.match(await run('devices erase kitchen --report'), { stdout: /^state +done$/m })
})

t.test('accounts are added and given roles', async t => {
  const link = /^http:\/\/127\.0\.0\.1:\d+\/reset\?token=[\w-]{43}$/
  t.match(await json('accounts add ada@example.com --name Ada'), { email: 'ada@example.com', password_link: link })
  const shown = /^id +\d+\nemail +grace@.*\n[\s\S]*Link that sets the password.*\nhttp:.*\?token=[\w-]{43}\n$/
  t.match(await run('accounts add grace@example.com --role administrator'), { status: 0, stdout: shown })
  const bob = await run('accounts add bob@example.com --password-stdin', 'correct horse battery\n')
  t.match(bob, { status: 0, stdout: /^role +user$/m })
  t.match(await json('accounts role BOB@example.com operator'), { role: 'operator' })
  const { id } = await json('accounts role ada@example.com operator')
  const nobody = await run('accounts role nobody@example.com user')
  t.match(nobody, { status: 1, stderr: /no account has the address nobody/ })
  const row = new RegExp(`^id +e-mail +name +role.*\\n${id} +ada@example.com +Ada +operator +no +yes +no +-\\n$`)
  t.match(await run('accounts list --search ada'), { status: 0, stdout: row })
  t.match(await json(`accounts viewer ${id} on`), { id, viewer: true })
})

t.test('people are invited, with invitations listed and revoked', async t => {
  const link = /^http:\/\/127\.0\.0\.1:\d+\/sign-up\?token=[\w-]{43}$/
  const invited = await json('accounts invite ivy@example.com --viewer --role administrator')
  t.match(invited, { email: 'ivy@example.com', role: 'administrator', viewer: true, link })
  const shown = /^id +\d+\nemail +jo@.*\n[\s\S]*Link that makes the account.*\nhttp:.*\?token=[\w-]{43}\n$/
  t.match(await run('accounts invite jo@example.com --no-mail'), { status: 0, stdout: shown })
  const list = /^id +e-mail +role +viewer +invited by +expires\n\d+ +jo@example.com +user +no +local admin token +\d/
  t.match(await run('accounts invitations'), { stdout: list })
  t.match(await run('accounts revoke-invitation JO@example.com'), { stdout: 'revoked the invitation JO@example.com\n' })
  t.match(await json(`accounts revoke-invitation ${invited.id}`), { revoked: invited.id })
  const again = await run('accounts revoke-invitation jo@example.com')
  t.match(again, { status: 1, stderr: /no open invitation has the address/ })
})

t.test('tenants are added, given new secrets and disabled', async t => {
  t.match(await run('tenants add acme Acme'), { stdout: /^secret +[\w-]{43}$[\s\S]*The secret is shown only once/m })
  t.match(await json('tenants rotate acme --now'), { secret: String, old_secret_until: null })
  t.match(await run('tenants disable acme'), { status: 0, stdout: /^is_active +false$/m })
  t.match(await run('tenants list'), { stdout: /^slug +name.*\nacme +Acme +no +-\n$/ })
})

t.test('the audit is shown newest first', async t => {
  t.match(await json('audit --limit 2'), [{ action: 'tenant.change' }, { action: 'tenant.rotate' }])
  const all: { id: number }[] = await json('audit --limit 100000')
  t.ok(all.length > 100, 'all pages')
  t.equal(new Set(all.map(({ id }) => id)).size, all.length)
  const { stdout } = await run('audit --limit 1')
  t.match(stdout, /^time +by +action +subject +details\n\S+ +local admin token +tenant.change +tenant acme +\{"is_a/)
})

t.test('decoders are added, replaced, tried and removed', async t => {
  const file = join(folder, 'garden.json')
  writeFileSync(file, '{"topics":["garden/{device}"],"device":["{device}"]}')
  t.match(await json(`decoders add garden ${file}`), { name: 'garden', device: ['{device}'] })
  t.match(await run('decoders list'), { stdout: /^name +topics +device +updated at\ngarden +garden\/\{device\} / })
  t.match(await run(`decoders try ${file}`), { stdout: 'no messages of its topics or its webhook\n' })
  t.match(await run('decoders messages'), { stdout: 'no messages since the start of the service\n' })
  writeFileSync(file, '{"device":["{box}"]}')
  t.match(await run(`decoders set garden ${file}`), { status: 1, stderr: /device\[0\].*is not a level of the topics/ })
  t.match(await run('decoders remove garden'), { stdout: 'removed garden\n' })
})

t.test('stations are added, listed, changed and removed', async t => {
  const words = '--city Delhi --country in --latitude 28.6257 --longitude -77 --outdoors --private'
  const added = await run(`stations add IN-1 M4 ${words}`)
  t.match(added, { status: 0, stdout: /^sn +IN-1\nmodel +M4\ncity +Delhi\ncountry +IN\n/, stderr: '' })
  t.match(await json('stations add IN-2 M4 --timezone Asia/Kolkata'), { timezone: 'Asia/Kolkata', owner: null })
  const list = /^sn +model +city +private +last data\nIN-1 +M4 +Delhi +yes +never\nIN-2 +M4 +- +no +never\n$/
  t.match(await run('stations list'), { stdout: list })
  const found = { sn: 'IN-1', latitude: 28.6257, longitude: -77, outdoors: true, private: true }
  t.match(await json('stations list --search DELHI'), [found])
  const set = await json('stations set IN-1 --city  --no-private --no-outdoors --model M5')
  t.match(set, { model: 'M5', city: null, private: false, outdoors: false })
  t.match(await run('stations remove IN-1'), { status: 0, stdout: /^removed IN-1; its points/ })
  t.match(JSON.parse((await run('stations remove IN-1 --report --json')).stdout), { sn: 'IN-1', error: null })
})

t.test('channels are added, listed without addresses, changed and removed', async t => {
  const added = await run('alerts channels add hook webhook https://example.com/secret')
  t.match(added, { status: 0, stdout: /^id +1\n[\s\S]*\nSecret, shown only once:\nwhsec_/ })
  t.match(await run('alerts channels add on-call email ada@example.com'), { status: 0 })
  t.match(await run('alerts channels add chat slack -', 'https://example.com/services/T1\n'), { status: 0 })
  const list = (await run('alerts channels list')).stdout
  t.match(list, /^1 +- +webhook +enabled +hook +example\.com$/m)
  t.notMatch(list, 'secret')
  t.match(await json('alerts channels set 2 --name phone --disable'), { name: 'phone', enabled: false })
  t.match(await json('alerts channels rotate 1'), { secret: /^whsec_/ })
  t.match(await run('alerts channels remove 3'), { status: 0, stdout: 'removed channel 3\n' })
})

t.test('rules are added, listed, changed and removed', async t => {
  const condition = '{"kind":"above","metric":"temperature","value":-15,"hysteresis":1}'
  const words = `--condition ${condition} --device freezer --for 10m --severity critical --channel 1 --channel 2`
  const added = { condition: JSON.parse(condition), for_seconds: 600, severity: 'critical', channels: [1, 2] }
  t.match(await json(`alerts rules add Freezer ${words}`), { id: 1, selector: { devices: ['freezer'] }, ...added })
  const silent = await json('alerts rules add Silent --condition {"kind":"silent"} --tag site:berlin room:*')
  t.match(silent, { selector: { tags: ['site:berlin', 'room:*'] } })
  t.match((await run('alerts rules list')).stdout, /^1 +- +critical +yes +1 2 +Freezer +\{"kind":"above"/m)
  const off = await json('alerts rules set 1 --disable --no-channels --keep-firing 1h')
  t.match(off, { enabled: false, channels: [], keep_firing_seconds: 3600 })
  t.match(await json('alerts rules set 1 --enable --group-by site'), { enabled: true, group_by: 'site' })
  t.match(await run('alerts rules remove 2'), { status: 0, stdout: 'removed rule 2\n' })
})

t.test('rules are exported and imported, without a change by the same file', async t => {
  const file = join(folder, 'rules.json')
  t.match(await run(`alerts export --output ${file}`), { status: 0, stdout: '' })
  t.match(await run(`alerts import ${file}`), { status: 0, stdout: '0 added, 0 changed, 1 unchanged, 0 removed\n' })
  const rules = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...rules, rules: [{ ...rules.rules[0], name: 'Freezer 2' }] }))
  t.match(await json(`alerts import ${file} --prune`), { added: 1, changed: 0, unchanged: 0, removed: 1 })
  writeFileSync(file, '[]')
  t.match(await run(`alerts import ${file}`), { status: 1, stderr: /is not a JSON object/ })
})

t.test('silences are added, listed and removed, alerts and notifications listed', async t => {
  const silence = { id: 1, selector: { devices: ['freezer'] }, reason: 'defrosting', is_active: true }
  t.match(await json('alerts silences add --device freezer --for 2h --reason defrosting'), silence)
  const weekly = '[{"days":[6,7],"from":"22:00","until":"06:00"}]'
  const each = { until: null, weekly: JSON.parse(weekly) }
  t.match(await json(`alerts silences add --all --weekly ${weekly}`), each)
  t.match((await run('alerts silences list')).stdout, /^1 +yes .* defrosting$/m)
  t.match(await run('alerts silences remove 1'), { status: 0, stdout: 'removed silence 1\n' })
  t.match(await run('alerts list --state firing --tag site:berlin'), { status: 0, stdout: 'no alerts\n' })
  t.match(await run('alerts deliveries list --state waiting'), { status: 0, stdout: 'no notifications\n' })
})

/** More than the service takes in one change. */
const halls = Array.from({ length: 502 }, (_, at) => `hall-${String(at).padStart(3, '0')}`)
const hallRows = ['device,tags', ...halls.map(name => `${name},site:berlin`), 'gates,site:berlin2;room:1', 'depot,']

async function withLog(isOn: boolean): Promise<string[]> {
  const listed: { name: string; log_switch: boolean }[] = await json('devices list')
  const names = listed.filter(({ log_switch }) => log_switch === isOn).map(({ name }) => name)
  return names.filter(name => /^(hall-|gates$|depot$)/.test(name))
}

t.test('any number of devices is suspended, resumed and tagged by name or tag, each with a line', async t => {
  const made = await run('devices import -', `${hallRows.join('\n')}\n`)
  t.equal(made.status, 0, made.stderr)
  t.match(await run('devices suspend depot gates depot'), { status: 0, stdout: 'depot  suspended\ngates  suspended\n' })
  t.strictSame(await withLog(false), ['depot', 'gates'])
  t.match(await run('devices resume gates nobody depot'), {
    status: 1,
    stdout: 'gates   resumed\nnobody  not resumed: device unknown\ndepot   resumed\n',
    stderr: 'barograph: not done for 1 of 3 devices\n',
  })
  const outcome = JSON.parse((await run('devices suspend nobody --json')).stdout)
  t.strictSame(outcome, { done: 0, failed: [{ device: 'nobody', reason: 'device unknown' }] })
  const suspended = await run('devices suspend --tagged site:berlin')
  t.match(suspended, { status: 0, stdout: halls.map(name => `${name}  suspended\n`).join('') })
  t.strictSame(await withLog(true), ['depot', 'gates'])
  t.strictSame(await json('devices resume --tagged site:*'), { done: 503, failed: [] })
  const none = await run('devices suspend --tagged site:berlin --tagged room:1')
  t.match(none, { status: 1, stderr: 'barograph: no device has site:berlin and room:1\n' })
  t.match(await run('devices tag room:2 gates depot'), { status: 0, stdout: 'gates  tagged\ndepot  tagged\n' })
  t.match(await run('devices untag room:* --tagged site:berlin2'), { status: 0, stdout: 'gates  untagged\n' })
  t.match(await json('devices show gates'), { tags: ['site:berlin2'] })
})

t.test('new passwords go to a file of the owner, or are shown once', async t => {
  const output = join(folder, 'rotated.csv')
  const rotated = await run(`devices rotate depot nobody gates --now --output ${output}`)
  const stderr = `2 new passwords, in ${output}\n"nobody": device unknown\nbarograph: not done for 1 of 3 devices\n`
  t.strictSame(rotated, { status: 1, stdout: '', stderr })
  t.equal(statSync(output).mode & 0o777, 0o600)
  const file = readFileSync(output, 'utf8')
  t.match(file, /^device,password\n"depot",[0-9a-f]{64}\n"gates",[0-9a-f]{64}\n$/)
  t.equal(await logsWith('gates', /"gates",(\w+)/.exec(file)?.[1] ?? ''), 200)
  t.match(await run(`devices rotate depot --output ${output}`), { status: 1, stderr: /already exists/ })
  t.equal(readFileSync(output, 'utf8'), file)
  const shown = await run('devices rotate --tagged site:berlin2')
  t.match(shown, { status: 0, stderr: '1 new password, shown only once\n' })
  t.match(shown.stdout, /^device,password\n"gates",[0-9a-f]{64}\n$/)
})
