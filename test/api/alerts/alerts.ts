/** Alerts by HTTP: permissions, rules, alerts, silences and the preview, with their rejections. */

import t from 'tap'
import type { Alerts } from '../../../alerts/alerts.ts'
import { bounds } from '../../../alerts/core/bounds.ts'
import type { AlertDevice } from '../../../alerts/core/devices.ts'
import type { Owner } from '../../../alerts/core/outcome.ts'
import { createPreview } from '../../../alerts/preview/preview.ts'
import type { AlertRules } from '../../../alerts/store/rules.ts'
import type { Scope } from '../../../auth/keys/key.ts'
import type { AlertReadings, AskedReadings } from '../../../query/alerts/alert-queries.ts'
import { BodyInterrupted } from '../../../query/pieces.ts'
import { goodPassword, serviceSecret } from '../../support/accounts.ts'
import { type AlertStore, createAlertStore, effects, startMs } from '../../support/alert-store.ts'
import { until } from '../../support/processes.ts'
import { startAlertsApi, tokenHeaders } from './alerts-api.ts'

const nowMs = Date.UTC(2026, 10, 26)
const [hourMs, dayMs] = [3_600_000, 86_400_000]
const deviceOwners = new Map<number, number>()
function device(number: number): AlertDevice {
  const about = { symbol: `d-${number}`, name: `d${number}`, tags: [], log_switch: true, location_short: '' }
  return { number, ...about, owner: deviceOwners.get(number) ?? null }
}

let reads: (asked: AskedReadings) => AsyncIterable<AlertReadings> = hot
const asked: AskedReadings[] = []

/** Yields a reading each hour, all of them hot. */
async function* hot(what: AskedReadings): AsyncGenerator<AlertReadings> {
  asked.push(what)
  for (let timeUs = what.fromUs; timeUs < what.toUs; timeUs += hourMs * 1000) {
    yield {
      device: Int32Array.from(what.devices, ({ number }) => number),
      timesUs: Float64Array.from(what.devices, () => timeUs),
      values: what.columns.map(() => Float64Array.from(what.devices, () => 35)),
      length: what.devices.length,
    }
  }
}

let made: AlertStore | undefined
/** Each request for the list of rules adds its owner. */
const listed: Owner[] = []
const channels: { id: number; owner: number | null; name: string; kind: string; settings: object }[] = []
/** The existing devices and their owners. */
const owners = new Map<string, number | null>([['cellar', null]])

const { people, store, ask } = await startAlertsApi(t, async ({ postgres }) => {
  made = await createAlertStore(postgres, device => (device === 1 ? ['site:berlin'] : []))
  const { rules } = made
  const list: AlertRules['list'] = (who, ...rest) => {
    listed.push(who)
    return rules.list(who, ...rest)
  }
  const preview = createPreview({
    devices: {
      all: () => [1, 2, 3].map(device),
      mayRead: (owner, { owner: of }) => owner === null || owner === of,
      seriesOf: () => undefined,
      qualityOf: () => undefined,
    },
    readings: wanted => reads(wanted),
    silenceOf: () => undefined,
    timeZone: 'UTC',
    nowMs: () => nowMs,
    limits: { readingsMax: 2000 },
  })
  t.teardown(() => preview.close())
  const parts = {
    ...made,
    preview,
    rules: { ...rules, list },
    channels: { list: async () => channels } as never,
    coverageOf: (rule: number) => (rule % 2 === 1 ? { covered: 7, isWhole: false } : undefined),
  }
  return {
    alerts: parts as Partial<Alerts>,
    numberOf: name => ({ d1: 1, d2: 2 })[name],
    deviceOf: name => (owners.has(name) ? { name, tags: ['site:berlin'], owner: owners.get(name) ?? null } : undefined),
    timeZone: 'Europe/Berlin',
    nowMs: () => nowMs,
  }
})
const [rulesPath, alertsPath, silencesPath] = ['/api/alert-rules', '/api/alerts', '/api/silences']
const previewPath = `${rulesPath}/preview`
const text = (ms: number) => new Date(ms).toISOString()
const get = (path: string, headers?: Record<string, string>) => ask('GET', path, undefined, headers)
const remove = (path: string, headers?: Record<string, string>) => ask('DELETE', path, undefined, headers)
const add = (body: unknown, headers?: Record<string, string>) => ask('POST', rulesPath, body, headers)

async function personOf(email: string, role = 'user', isUnverified = false) {
  const id = await people.person(email, { isUnverified })
  await people.set(id, { role })
  return { id, headers: { cookie: (await people.cookieOf(id)).cookie, origin: 'https://app.example' } }
}

const ada = await personOf('ada@example.com')
const bob = await personOf('bob@example.com')
const admin = await personOf('admin@example.com', 'administrator')
const operator = await personOf('operator@example.com', 'operator')
const watcher = await personOf('watcher@example.com')
const viewer = await personOf('viewer@example.com')
deviceOwners.set(2, viewer.id)

const keyOf = async ({ id }: { id: number }, scopes: Scope[]) => ({ 'x-api-key': await people.keyOf(id, { scopes }) })
const unverified = await personOf('unverified@example.com', 'user', true)
const { body: fetched } = await people.ask('POST', '/token', {
  body: { email: 'watcher@example.com', password: goodPassword },
})

if (made === undefined) throw new Error('there is no store')
const alertStore = made
const hotRule = await alertStore.addRule(
  { name: 'hot', severity: 'critical', note: 'open a window' },
  { all: false, account: watcher.id },
)
const ofMachine = await alertStore.addRule({ name: 'machine' })
const { opened, fired, resolved } = effects
await alertStore.apply(
  { ...alertStore.transition(hotRule.id, 1, opened(startMs), fired(startMs)), severity: 'critical' },
  { ...alertStore.transition(hotRule.id, 2, opened(startMs + 1)), severity: 'critical' },
  alertStore.transition(ofMachine.id, 2, opened(startMs + 2), fired(startMs + 2), resolved(startMs + 3)),
)

t.test('people are accepted by a session or a key with the scope', async t => {
  const [own, all] = [
    { all: false, account: watcher.id },
    { all: true, account: admin.id },
  ]
  const table: [who: string, headers: Record<string, string>, status: number, owner?: Owner][] = [
    ['no credential', {}, 401],
    ['the admin token', tokenHeaders, 200, { all: true, account: null }],
    ['a session', watcher.headers, 200, own],
    ['a key with the scope', await keyOf(watcher, ['alerts']), 200, own],
    ['a key without it', await keyOf(watcher, ['read']), 403],
    ['a session without an address', unverified.headers, 403],
    ['an administrator', admin.headers, 200, all],
    ['a key of one', await keyOf(admin, ['alerts']), 200, all],
    ['a key of one without the scope', await keyOf(admin, ['admin']), 403],
    ['a bearer token', { authorization: `Bearer ${fetched['access_token']}` }, 401],
    ['the service secret', { 'x-service-secret': serviceSecret }, 401],
    ['two credentials', { ...tokenHeaders, ...watcher.headers }, 401],
  ]
  for (const [who, headers, status, owner] of table) {
    listed.length = 0
    const answer = await get(rulesPath, headers)
    t.equal(answer.status, status, who)
    t.strictSame(listed, owner === undefined ? [] : [owner], who)
    t.equal(answer.headers['cache-control'], 'no-store', who)
    // A rejected caller cannot distinguish paths and methods.
    const [method, path] = [await ask('PUT', rulesPath, undefined, headers), await get(`${rulesPath}/a/b`, headers)]
    t.strictSame([method.status, path.status], status === 200 ? [405, 404] : [status, status], who)
  }
})

t.test('the bare prefix, with and without a slash, returns problem documents', async t => {
  for (const url of [rulesPath, `${rulesPath}/`, `${rulesPath}?limit=5`]) {
    t.match(await get(url), { status: 200, body: { rules: Array } }, url)
  }
  t.match(await get(rulesPath, {}), { status: 401, headers: { 'content-type': 'application/problem+json' } })
  t.match(await add('{'), { status: 400, body: { title: 'invalid json' } })
  for (const query of ['limit=0', 'limit=1001', 'after=x', 'page=1']) {
    t.match(await get(`${rulesPath}?${query}`), { status: 400, body: { title: 'invalid query' } }, query)
  }
  t.match(await get(`${rulesPath}/%zz`), { status: 400, body: { title: 'bad request' } })
  t.match(await get(`${rulesPath}/%zz`, {}), { status: 401, body: { title: 'unauthorized' } })
})

t.test("other sites' pages change nothing with a cookie", async t => {
  const answer = await add({}, { cookie: watcher.headers.cookie, 'sec-fetch-site': 'cross-site' })
  t.match(answer, { status: 403, body: { title: 'cross-site request' } })
})

const condition = { kind: 'above', metric: 'temperature', value: 30 }
const warm = { name: 'warm', selector: { all: true }, condition }
const idOf = ({ body }: { body: unknown }) => (body as { id: number }).id

async function channelOf(owner: number | null, name: string): Promise<number> {
  const id = await made?.addChannel(name, owner ?? undefined)
  if (id === undefined) throw new Error('there is no channel')
  channels.push({ id, owner, name, kind: 'webhook', settings: {} })
  return id
}

t.test('the owner adds, reads, changes and removes a rule', async t => {
  const added = await add(warm, ada.headers)
  const id = idOf(added)
  const path = `${rulesPath}/${id}`
  t.match(added, { status: 201, headers: { location: path } })
  const kept = { ...warm, id, owner: ada.id, condition: { ...condition, hysteresis: 0 } }
  const defaults = { for_seconds: 0, keep_firing_seconds: 0, severity: 'warning', channels: [], group_by: null }
  const coverage = { covered: 7, covers_all: false }
  const rule = { ...kept, ...defaults, ...coverage, enabled: true, note: '', version: 1, created_at: String }
  t.match(added.body, rule)
  t.strictSame((await get(path, ada.headers)).body, added.body)
  const note = 'open a window'
  t.match(await ask('PATCH', path, { note }, ada.headers), { status: 200, body: { ...rule, note } })
  t.match(await ask('PATCH', path, { for_seconds: 60 }, ada.headers), { body: { for_seconds: 60, version: 2 } })
  t.match(await ask('PATCH', path, {}, ada.headers), { status: 422 })
  t.match(await remove(path, ada.headers), { status: 204 })
  t.match(await get(path, ada.headers), { status: 404, body: { title: 'rule unknown' } })
})

t.test('only administrators see rules of other owners', async t => {
  const id = idOf(await add({ ...warm, name: 'of ada' }, ada.headers))
  const ofService = idOf(await add({ ...warm, name: 'of the service' }))
  for (const [method, body] of [['GET'], ['PATCH', { note: 'x' }], ['DELETE']] as const) {
    t.match(await ask(method, `${rulesPath}/${id}`, body, bob.headers), { status: 404 }, method)
  }
  for (const [headers, names] of [
    [bob.headers, []],
    [ada.headers, ['of ada']],
    [admin.headers, ['of ada', 'of the service']],
  ] as const) {
    const { rules } = (await get(rulesPath, headers)).body as { rules: { name: string }[] }
    t.strictSame(
      rules.map(({ name }) => name).filter(name => name.startsWith('of ')),
      names,
    )
  }
  const changed = await ask('PATCH', `${rulesPath}/${id}`, { note: 'seen' }, admin.headers)
  t.match(changed, { body: { note: 'seen', owner: ada.id } })
  const page = await get(`${rulesPath}?limit=1&after=${id}`)
  t.match(page, { body: { rules: [{ id: ofService }], next: ofService } })
  t.match(await get(`${rulesPath}?limit=1&after=${ofService}`), { body: { rules: [], next: null } })
})

t.test('an invalid rule is rejected, with the place', async t => {
  const refused = async (more: object, expected: object) =>
    t.match(await add({ ...warm, ...more }, ada.headers), expected, JSON.stringify(more).slice(0, 200))
  const invalid = (...errors: object[]) => ({ status: 422, body: { errors } })
  await refused({ selector: undefined }, invalid({ path: 'selector' }))
  await refused({ name: '' }, invalid({ path: 'name' }))
  await refused({ colour: 'red' }, invalid({ message: /colour/ }))
  await refused({ condition: { kind: 'above', metric: 'temperature' } }, invalid({ path: 'condition.value' }))
  await refused({ channels: [1, 1] }, invalid({ path: 'channels' }))
  for (const channel of [999, await channelOf(bob.id, 'phone of bob')]) {
    await refused({ channels: [channel] }, { status: 422, body: { title: 'channels unknown' } })
  }
  const id = idOf(await add({ ...warm, name: 'taken' }, ada.headers))
  await refused({ name: 'taken' }, { status: 409, body: { title: 'name taken' } })
  t.match(await add({ ...warm, name: 'taken' }, bob.headers), { status: 201 }, 'a name is one owner’s')
  t.match(await ask('PATCH', `${rulesPath}/${id}`, { selector: null }, ada.headers), invalid({ path: 'selector' }))
})

t.test('rules on the service are for the operator and the admin token', async t => {
  const disk = { name: 'disk', condition: { kind: 'service', fact: 'disk_full', days: 7 } }
  for (const { headers } of [ada, admin]) {
    t.match(await add(disk, headers), { status: 403, body: { title: 'operator only' } })
    t.match(await ask('POST', previewPath, { rule: disk }, headers), { status: 403 })
    t.match(await ask('POST', `${rulesPath}/import`, { rules: [disk] }, headers), { status: 403 })
  }
  const path = `${rulesPath}/${idOf(await add(disk, operator.headers))}`
  t.match(await add(disk), { status: 201 })
  t.match(await ask('PATCH', path, { note: 'x' }, admin.headers), { status: 403 })
  t.match(await remove(path, admin.headers), { status: 403 })
  t.match(await remove(path, operator.headers), { status: 204 })
})

t.test('importing an exported file, once or twice, creates the same rules', async t => {
  const phone = await channelOf(ada.id, 'phone')
  await add({ ...warm, name: 'frost', channels: [phone] }, ada.headers)
  await add({ ...warm, name: 'a quiet one', enabled: false, note: 'later' }, ada.headers)
  const file = (await get(`${rulesPath}/export`, ada.headers)).body as { rules: { name: string }[] }
  const names = file.rules.map(({ name }) => name)
  t.strictSame(names, ['a quiet one', 'frost', 'of ada', 'taken'])
  t.match(file, { channels: [{ name: 'phone', kind: 'webhook', settings: {} }] })
  t.notMatch(JSON.stringify(file), /"id"|"owner"|created_at/)
  const imports = async (given: object, query = '', headers: Record<string, string> = ada.headers) =>
    (await ask('POST', `${rulesPath}/import${query}`, given, headers)).body
  const unchanged = { added: 0, changed: 0, unchanged: 4, removed: 0 }
  t.strictSame(await imports(file, '?prune=1'), unchanged)
  const [, ...rest] = file.rules
  const fewer = { ...file, rules: [...rest, { ...warm, name: 'new' }] }
  t.strictSame(await imports(fewer, '?prune=1'), { added: 1, changed: 0, unchanged: 3, removed: 1 })
  // Bob has a channel of another name, and none of these rules.
  const errors = [{ path: 'channels[0].name' }, { path: 'rules[1].channels[0]' }]
  t.match(await imports(file, '', bob.headers), { status: 422, errors })
  await channelOf(bob.id, 'phone')
  t.match(await imports(file, '', bob.headers), { added: 3, changed: 0, unchanged: 1 })
  t.match((await get(`${rulesPath}/export`, bob.headers)).body, file)
})

t.test('a file with a fault is rejected, with the place', async t => {
  const broken = { ...warm, name: 'broken', selector: undefined }
  const many = Array.from({ length: 1001 }, (_, at) => ({ ...warm, name: `r${at}` }))
  const files: [rules: object[], expected: object][] = [
    [[{ ...warm, name: 'one more' }, broken], { status: 422, body: { errors: [{ path: 'rules[1].selector' }] } }],
    [[warm, warm], { status: 422, body: { errors: [{ path: 'rules' }] } }],
    [many, { status: 422 }],
    [many.slice(0, 998), { status: 409, body: { title: 'too many rules' } }],
  ]
  for (const [rules, expected] of files) {
    t.match(await ask('POST', `${rulesPath}/import`, { rules }, ada.headers), expected)
  }
})

t.test('the rules of a device are the rules whose selector includes it', async t => {
  const eve = await personOf('eve@example.com')
  owners.set('porch', eve.id)
  const selectors = {
    all: { all: true },
    tagged: { tags: ['site:*'] },
    named: { devices: ['porch'] },
    other: { devices: ['attic'] },
    elsewhere: { tags: ['site:paris'] },
  }
  for (const [name, selector] of Object.entries(selectors)) await add({ name, selector, condition }, eve.headers)
  const namesOf = async (query: string, headers = eve.headers) => {
    const { body } = await get(`${rulesPath}?${query}`, headers)
    return (body as { rules: { name: string }[] }).rules.map(({ name }) => name)
  }
  t.strictSame(await namesOf('device=porch'), ['all', 'tagged', 'named'])
  t.strictSame(await namesOf('device=porch&limit=2'), ['all', 'tagged'])
  t.strictSame(await namesOf('device=nowhere'), [])
  t.strictSame(await namesOf('device=cellar'), [], 'a device of another owner is unknown')
  t.ok((await namesOf('device=cellar&limit=1000', admin.headers)).includes('of ada'))
  t.strictSame(await namesOf(''), Object.keys(selectors))
})

type Listed = { alerts: { id: string; device: string; rule: string; state: string }[]; next: string | null }
async function list(query = '', headers?: Record<string, string>): Promise<string[]> {
  const { status, body } = await get(`${alertsPath}${query}`, headers)
  t.equal(status, 200, query)
  return (body as Listed).alerts.map(({ device, rule, state }) => `${rule} ${device} ${state}`)
}

t.test('people see alerts of their rules, administrators all, newest first', async t => {
  t.strictSame(await list('', watcher.headers), ['hot d2 pending', 'hot d1 firing'])
  t.strictSame(await list('', bob.headers), [])
  t.strictSame(await list(), ['machine d2 resolved', 'hot d2 pending', 'hot d1 firing'])
  const { body } = await get(`${alertsPath}?state=firing`, watcher.headers)
  const alerts = [{ severity: 'critical', note: 'open a window', value: 31 }]
  t.match(body, { next: null, time_zone: 'Europe/Berlin', alerts })
  t.notMatch(JSON.stringify(body), /"owner"|device_number/)
})

t.test('the list is filtered and paged', async t => {
  t.strictSame(await list('?state=firing,resolved'), ['machine d2 resolved', 'hot d1 firing'])
  t.strictSame(await list('?severity=critical&device=d2'), ['hot d2 pending'])
  t.strictSame(await list('?device=nobody'), [])
  t.strictSame(await list(`?rule=${ofMachine.id}`), ['machine d2 resolved'])
  const since = encodeURIComponent('2026-05-04T14:00:01+02:00')
  t.strictSame(await list(`?since=${since}`), ['hot d2 pending', 'hot d1 firing'])
  const first = (await get(`${alertsPath}?limit=2`)).body as Listed
  t.equal(first.alerts.length, 2)
  t.equal(first.next, first.alerts[1]?.id)
  t.strictSame(await list(`?limit=2&after=${first.next}`), ['hot d1 firing'])
  const wrong = 'state=open severity= limit=0 limit=1001 after=x since=yesterday tag=berlin rule=0 page=2'
  for (const query of wrong.split(' ')) {
    t.match(await get(`${alertsPath}?${query}`), { status: 400, body: { title: 'invalid query' } }, query)
  }
})

t.test('devices with firing alerts are counted by their tags', async t => {
  const groups = async (query: string, headers?: Record<string, string>) =>
    (await get(`${alertsPath}/groups?${query}`, headers)).body
  const firing = { key: 'site', groups: [{ tag: 'site:berlin', devices: 1 }], others: 0, untagged: 0 }
  t.strictSame(await groups('key=site'), firing)
  t.strictSame(await groups('key=site&tag=site:berlin', watcher.headers), firing)
  t.strictSame(await groups('key=site&tag=site:bonn', watcher.headers), { ...firing, groups: [] })
  t.strictSame(await groups('key=room', watcher.headers), { key: 'room', groups: [], others: 0, untagged: 1 })
  t.strictSame(await groups('key=site', bob.headers), { ...firing, groups: [] })
  for (const query of ['', 'key=', 'key=Site', 'key=site&tag=berlin', 'key=site&state=firing']) {
    t.match(await get(`${alertsPath}/groups?${query}`), { status: 400, body: { title: 'invalid query' } }, query)
  }
})

t.test('a client with the current list gets 304', async t => {
  const { headers } = await get(alertsPath, watcher.headers)
  t.match(headers, { etag: /^W\//, 'cache-control': 'private, no-cache' })
  const again = { 'if-none-match': String(headers['etag']) }
  t.match(await get(alertsPath, { ...watcher.headers, ...again }), { status: 304, body: undefined })
  t.equal((await get(alertsPath, { ...bob.headers, ...again })).status, 200)
})

t.test('an alert is shown with its history and acknowledged once, and is unknown to others', async t => {
  const unknown = { status: 404, body: { title: 'alert unknown' } }
  const pathOf = async (state: string) => {
    const { alerts } = (await get(`${alertsPath}?state=${state}`)).body as Listed
    return `${alertsPath}/${alerts[0]?.id}`
  }
  const one = await pathOf('firing')
  t.match(await get(one, watcher.headers), {
    status: 200,
    body: { rule: 'hot', acknowledged_at: null, events: [{ kind: 'pending' }, { kind: 'firing' }] },
  })
  t.match(await get(one, bob.headers), unknown)
  t.match(await ask('POST', `${one}/acknowledge`, undefined, bob.headers), { status: 404 })
  const acknowledged = { acknowledged_by: `account ${watcher.id}`, acknowledged_at: String }
  for (const headers of [watcher.headers, tokenHeaders]) {
    t.match(await ask('POST', `${one}/acknowledge`, undefined, headers), { status: 200, body: acknowledged })
  }
  t.match((await get(one)).body, { events: [{}, {}, { kind: 'acknowledged' }] })
  const ended = await ask('POST', `${await pathOf('resolved')}/acknowledge`)
  t.match(ended, { status: 409, body: { title: 'alert resolved' } })
  for (const id of ['0', 'x', '99999999999999999999', '123456']) t.match(await get(`${alertsPath}/${id}`), unknown, id)
})

const untilText = '2026-05-04T14:00:00Z'
const silence = { selector: { all: true }, until: untilText }
const addSilence = (body: object, headers?: Record<string, string>) => ask('POST', silencesPath, body, headers)

t.test('a silence is added, shown and ended', async t => {
  const body = { selector: { tags: ['site:berlin'] }, until: '2026-05-04T16:00:00+02:00', reason: 'works' }
  const made = await addSilence(body)
  const id = idOf(made)
  const path = `${silencesPath}/${id}`
  t.match(made, { status: 201, headers: { location: path } })
  const [from, to] = ['2026-05-04T12:00:00.000Z', '2026-05-04T14:00:00.000Z']
  const when = { from, until: to, weekly: null, is_active: true, created_at: from }
  const shown = { ...body, id, rule_id: null, created_by: 'local admin token', ...when }
  t.strictSame(made.body, shown)
  t.strictSame((await get(path)).body, shown)
  t.strictSame((await get(silencesPath)).body, { silences: [shown], next: null })
  t.equal((await remove(path)).status, 204)
  for (const method of ['GET', 'DELETE'])
    t.match(await ask(method, path), { status: 404, body: { title: 'silence unknown' } })
  t.strictSame((await get(silencesPath)).body, { silences: [], next: null })
  const { rows } = await store.postgres.query('SELECT action FROM audit WHERE subject = $1 ORDER BY id', [
    `silence ${id}`,
  ])
  t.strictSame(rows, [{ action: 'silence.add' }, { action: 'silence.remove' }])
})

t.test('a valid silence with weekly windows may be unlimited', async t => {
  const made = async (from: string) =>
    (await addSilence({ selector: { all: true }, weekly: [{ days: [1], from, until: '13:00' }] })).body
  t.match([await made('12:00'), await made('12:01')], [{ until: null, is_active: true }, { is_active: false }])

  const faults: [object, RegExp][] = [
    [{ selector: { all: true } }, /weekly windows/],
    [{ ...silence, reason: 'a\nb' }, /control characters/],
  ]
  for (const [body, message] of faults) {
    const answer = await addSilence(body)
    t.equal(answer.status, 422, JSON.stringify(body))
    t.match(JSON.stringify(answer.body), message)
  }
  const unknown = await addSilence({ ...silence, rule_id: 999_999 })
  t.match(unknown, { status: 404, body: { title: 'rule unknown' } })
})

t.test('people see and end their silences, up to a limit', async t => {
  const ada = await personOf('ada@silences.example')
  const bob = await personOf('bob@silences.example')
  const made = await addSilence(silence, ada.headers)
  t.match(made, { status: 201, body: { created_by: `account ${ada.id}` } })
  const id = idOf(made)
  t.strictSame((await get(silencesPath, bob.headers)).body, { silences: [], next: null })
  for (const method of ['GET', 'DELETE'])
    t.equal((await ask(method, `${silencesPath}/${id}`, undefined, bob.headers)).status, 404)
  t.match((await get(`${silencesPath}?limit=1`)).body, { silences: [{ id }], next: id }, 'administrators see all')
  await store.postgres.query(
    `INSERT INTO alert_silences (owner, selector, from_at, until_at, reason, created_by, created_at)
     SELECT $1, '{"all":true}', now(), $2, '', '', now() FROM generate_series(1, $3)`,
    [ada.id, untilText, bounds.silencesPerOwner - 1],
  )
  t.match(await addSilence(silence, ada.headers), { status: 409, body: { title: 'too many silences' } })
  t.equal((await addSilence(silence, bob.headers)).status, 201)
})

const preview = (range: object = {}, more: object = {}, headers?: Record<string, string>) =>
  ask('POST', previewPath, { rule: { ...warm, ...more }, ...range }, headers)

t.test('a preview covers the last 30 days by default', async t => {
  const [from, to] = [text(nowMs - 30 * dayMs), text(nowMs)]
  const devices = [{ device: 'd1', count: 1, intervals: [{ from, to: null }] }]
  const body = { supported: true, from, to, devices, weeks: { length: 5 } }
  t.match(await preview({}, { selector: { devices: ['d1'] } }), { status: 200, body })
  const range = { from: '2026-11-20T02:00:00+02:00', to: '2027-01-01T00:00:00Z' }
  t.match(await preview(range), { body: { from: '2026-11-20T00:00:00.000Z', to } })
})

t.test('a person’s preview covers their devices', async t => {
  asked.length = 0
  const range = { from: text(nowMs - dayMs) }
  const { body } = await preview(range, {}, viewer.headers)
  t.match(body, { devices: { length: 1, 0: { device: 'd2' } }, total: 1 })
  const others = await preview(range, { selector: { devices: ['d1', 'd3'] } }, viewer.headers)
  t.match(others, { status: 200, body: { devices: { length: 0 }, total: 0 } })
  const read = asked.flatMap(({ devices }) => devices.map(({ number }) => number))
  t.strictSame(read, [2])
})

t.test('an invalid range is rejected', async t => {
  const ranges = [
    { from: text(nowMs - 367 * dayMs) },
    { from: text(nowMs) },
    { from: '1969-12-31T00:00:00Z', to: '1970-01-02T00:00:00Z' },
    ...['yesterday', '2026-11-20T00:00:00', 1_780_000_000_000].map(from => ({ from })),
  ]
  const refused = (path: string) => ({ status: 422, body: { errors: [{ path }] } })
  for (const range of ranges) t.match(await preview(range), refused('from'), JSON.stringify(range))
  t.match(await preview({}, { for_seconds: -1 }), refused('rule.for_seconds'))
  t.match(await ask('POST', previewPath, warm), { status: 422 })
  t.match(await preview({}, { note: 'x'.repeat(70_000) }), { status: 413 }, 'the body has a bound')
})

t.test('a preview that is too large returns the possible number of days', async t => {
  // Three devices have 72 readings a day.
  const body = { title: 'preview too large', days: 26, detail: 'ask for at most 26 days of these devices' }
  t.match(await preview({ from: text(nowMs - 60 * dayMs) }), { status: 413, body })
})

t.test('an unavailable QuestDB, and too many concurrent previews, are a 503', async t => {
  for (const [code, title] of [
    ['DATABASE_AWAY', 'database unavailable'],
    ['CLOSING', 'shutting down'],
  ] as const) {
    reads = async function* () {
      yield* []
      throw new BodyInterrupted(code)
    }
    t.match(await preview(), { status: 503, body: { title } })
  }
  const held = Promise.withResolvers<void>()
  let begun = 0
  reads = async function* () {
    begun++
    await held.promise
    yield* []
  }
  const running = [preview(), preview()]
  await until('both are under way', () => begun === 2)
  t.match(await preview(), { status: 503, headers: { 'retry-after': '5' }, body: { title: 'preview busy' } })
  held.resolve()
  for (const { status } of await Promise.all(running)) t.equal(status, 200)
  reads = hot
})
