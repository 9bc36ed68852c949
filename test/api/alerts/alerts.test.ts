/** Alerts by HTTP: who may use it, rules, alerts, silences and the preview, with what is refused. */

import t from 'tap'
import type { Alerts } from '../../../alerts/alerts.ts'
import { bounds } from '../../../alerts/core/bounds.ts'
import type { AlertDevice } from '../../../alerts/core/devices.ts'
import type { Owner } from '../../../alerts/core/outcome.ts'
import type { AlertReadings, AskedReadings } from '../../../alerts/core/readings.ts'
import { createPreview } from '../../../alerts/preview/preview.ts'
import type { AlertRules } from '../../../alerts/store/rules.ts'
import { BodyInterrupted } from '../../../query/pieces.ts'
import { goodPassword, serviceSecret } from '../../support/accounts.ts'
import { type AlertStore, createAlertStore, effects, startMs } from '../../support/alert-store.ts'
import { startAlertsApi, tokenHeaders } from '../../support/alerts-api.ts'
import { until } from '../../support/processes.ts'

const nowMs = Date.UTC(2026, 10, 26)
const [hourMs, dayMs] = [3_600_000, 86_400_000]
const deviceOwners = new Map<number, number>()
const device = (number: number): AlertDevice => ({
  number,
  symbol: `d-${number}`,
  name: `d${number}`,
  tags: [],
  owner: deviceOwners.get(number) ?? null,
  log_switch: true,
  location_short: '',
})

let reads: (asked: AskedReadings, signal: AbortSignal) => AsyncIterable<AlertReadings> = hot
const asked: AskedReadings[] = []

/** A reading each hour, all of them hot. */
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
/** Who has listed rules. */
const listed: Owner[] = []
/** Those that a test has made; what else they have is not looked at here. */
const channels: { id: number; owner: number | null; name: string; kind: string; settings: object }[] = []
/** By the names of the devices that there are. */
const owners = new Map<string, number | null>([['cellar', null]])
const numbers = new Map([
  ['d1', 1],
  ['d2', 2],
])

const { people, store, ask, app } = await startAlertsApi(t, async ({ postgres }) => {
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
    readings: (...words) => reads(...words),
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
    numberOf: name => numbers.get(name),
    deviceOf: name => (owners.has(name) ? { name, tags: ['site:berlin'], owner: owners.get(name) ?? null } : undefined),
    timeZone: 'Europe/Berlin',
    nowMs: () => nowMs,
  }
})
const [rulesPath, alertsPath, silencesPath] = ['/api/alert-rules', '/api/alerts', '/api/silences']
const previewPath = `${rulesPath}/preview`
const text = (ms: number) => new Date(ms).toISOString()

async function personOf(email: string, role = 'user') {
  const id = await people.person(email)
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

async function callerOf(role: string, { isUnverified = false } = {}) {
  const email = `${role}${isUnverified ? '-unverified' : ''}@example.com`
  const id = await people.person(email, { isUnverified })
  await people.set(id, { role })
  const { body } = await people.ask('POST', '/token', { body: { email, password: goodPassword } })
  return { id, cookie: (await people.cookieOf(id)).cookie, token: String(body['access_token']) }
}

async function keyOf(cookie: string, scopes: string[]): Promise<Record<string, string>> {
  const headers = { cookie, origin: 'https://app.example' }
  const { status, body } = await people.ask('POST', '/api-keys', { headers, body: { name: 'k', scopes } })
  t.equal(status, 201)
  return { 'x-api-key': String(body['key']) }
}

const user = await callerOf('user')
const unverified = await callerOf('user', { isUnverified: true })
const administrator = await callerOf('administrator')

if (made === undefined) throw new Error('there is no store')
const alertStore = made
const hotRule = await alertStore.addRule(
  { name: 'hot', severity: 'critical', note: 'open a window' },
  { all: false, account: watcher.id },
)
const ofMachine = await alertStore.addRule({ name: 'machine' })
await alertStore.apply(
  { ...alertStore.transition(hotRule.id, 1, effects.opened(startMs), effects.fired(startMs)), severity: 'critical' },
  { ...alertStore.transition(hotRule.id, 2, effects.opened(startMs + 1)), severity: 'critical' },
  alertStore.transition(
    ofMachine.id,
    2,
    effects.opened(startMs + 2),
    effects.fired(startMs + 2),
    effects.resolved(startMs + 3),
  ),
)

t.test(
  'people come in by a session or a key with the scope, and see what is theirs; administrators see all',
  async t => {
    const table: [who: string, headers: Record<string, string>, status: number, owner?: Owner][] = [
      ['nobody', {}, 401],
      ['the admin token', tokenHeaders, 200, { all: true, account: null }],
      ['a session', { cookie: user.cookie }, 200, { all: false, account: user.id }],
      ['a key with the scope', await keyOf(user.cookie, ['alerts']), 200, { all: false, account: user.id }],
      ['a key without it', await keyOf(user.cookie, ['read']), 403],
      ['a session without an address', { cookie: unverified.cookie }, 403],
      ['an administrator', { cookie: administrator.cookie }, 200, { all: true, account: administrator.id }],
      ['a key of one', await keyOf(administrator.cookie, ['alerts']), 200, { all: true, account: administrator.id }],
      ['a key of one without the scope', await keyOf(administrator.cookie, ['admin']), 403],
      ['a bearer token', { authorization: `Bearer ${user.token}` }, 401],
      ['the service secret', { 'x-service-secret': serviceSecret }, 401],
      ['two credentials', { ...tokenHeaders, cookie: user.cookie }, 401],
    ]
    for (const [who, headers, status, owner] of table) {
      listed.length = 0
      const answer = await ask('GET', rulesPath, undefined, headers)
      t.equal(answer.status, status, who)
      t.strictSame(listed, owner === undefined ? [] : [owner], who)
      t.equal(answer.headers['cache-control'], 'no-store', who)
      // Whoever is not let in learns nothing of paths and methods.
      t.equal(
        (await ask('PUT', rulesPath, undefined, headers)).status,
        status === 200 ? 405 : status,
        `${who}: no method`,
      )
      t.equal(
        (await ask('GET', `${rulesPath}/a/b`, undefined, headers)).status,
        status === 200 ? 404 : status,
        `${who}: no rulesPath`,
      )
    }
  },
)

t.test('the bare prefix, with and without a slash, answers problem documents', async t => {
  for (const url of [rulesPath, `${rulesPath}/`, `${rulesPath}?limit=5`]) {
    t.match(await ask('GET', url), { status: 200, body: { rules: Array } }, url)
  }
  t.match(await ask('GET', rulesPath, undefined, {}), {
    status: 401,
    headers: { 'content-type': 'application/problem+json' },
  })
  t.match(await ask('POST', rulesPath, '{'), { status: 400, body: { title: 'invalid json' } })
  for (const url of [
    `${rulesPath}?limit=0`,
    `${rulesPath}?limit=1001`,
    `${rulesPath}?after=x`,
    `${rulesPath}?page=1`,
  ]) {
    t.match(await ask('GET', url), { status: 400, body: { title: 'invalid query' } }, url)
  }
  t.match(await ask('GET', `${rulesPath}/%zz`), { status: 400, body: { title: 'bad request' } })
  t.match(await ask('GET', `${rulesPath}/%zz`, undefined, {}), { status: 401, body: { title: 'unauthorized' } })
})

t.test('a page of another site changes nothing with a cookie', async t => {
  const asked = { 'content-type': 'application/json', cookie: user.cookie, 'sec-fetch-site': 'cross-site' }
  const response = await app.inject({ method: 'POST', url: rulesPath, headers: asked, payload: '{}' })
  t.match(response.json(), { status: 403, title: 'cross-site request' })
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

t.test('a rule is added, read, changed and removed by whom it belongs to', async t => {
  const added = await ask('POST', rulesPath, warm, ada.headers)
  const id = idOf(added)
  t.match(added, { status: 201, headers: { location: `${rulesPath}/${id}` } })
  const rule = {
    ...warm,
    id,
    owner: ada.id,
    condition: { ...condition, hysteresis: 0 },
    for_seconds: 0,
    keep_firing_seconds: 0,
    severity: 'warning',
    channels: [],
    group_by: null,
    enabled: true,
    note: '',
    version: 1,
    created_at: String,
    covered: 7,
    covers_all: false,
  }
  t.match(added.body, rule)
  t.strictSame((await ask('GET', `${rulesPath}/${id}`, undefined, ada.headers)).body, added.body)
  t.match(await ask('PATCH', `${rulesPath}/${id}`, { note: 'open a window' }, ada.headers), {
    status: 200,
    body: { ...rule, note: 'open a window' },
  })
  t.match(await ask('PATCH', `${rulesPath}/${id}`, { for_seconds: 60 }, ada.headers), {
    body: { for_seconds: 60, version: 2 },
  })
  t.match(await ask('PATCH', `${rulesPath}/${id}`, {}, ada.headers), { status: 422 })
  t.match(await ask('DELETE', `${rulesPath}/${id}`, undefined, ada.headers), { status: 204 })
  t.match(await ask('GET', `${rulesPath}/${id}`, undefined, ada.headers), {
    status: 404,
    body: { title: 'rule unknown' },
  })
})

t.test('a rule of somebody else is one that is not there; administrators see all', async t => {
  const id = idOf(await ask('POST', rulesPath, { ...warm, name: 'of ada' }, ada.headers))
  const ofService = idOf(await ask('POST', rulesPath, { ...warm, name: 'of the service' }))
  for (const [method, body] of [['GET'], ['PATCH', { note: 'x' }], ['DELETE']] as const) {
    t.match(await ask(method, `${rulesPath}/${id}`, body, bob.headers), { status: 404 }, method)
    t.match(await ask(method, `${rulesPath}/${ofService}`, body, ada.headers), { status: 404 }, method)
  }
  const namesFor = async (headers?: Record<string, string>) => {
    const { rules } = (await ask('GET', rulesPath, undefined, headers)).body as { rules: { name: string }[] }
    return rules.map(({ name }) => name).filter(name => name.startsWith('of '))
  }
  t.strictSame(await namesFor(bob.headers), [])
  t.strictSame(await namesFor(ada.headers), ['of ada'])
  t.strictSame(await namesFor(admin.headers), ['of ada', 'of the service'])
  t.strictSame(await namesFor(), ['of ada', 'of the service'])
  t.match(await ask('PATCH', `${rulesPath}/${id}`, { note: 'seen' }, admin.headers), {
    body: { note: 'seen', owner: ada.id },
  })
  t.match(await ask('GET', `${rulesPath}?limit=1&after=${id - 1}`), { body: { rules: [{ id }], next: id } })
  t.match(await ask('GET', `${rulesPath}?limit=1&after=${id}`), {
    body: { rules: [{ id: ofService }], next: ofService },
  })
  t.match(await ask('GET', `${rulesPath}?limit=1&after=${ofService}`), { body: { rules: [], next: null } })
})

t.test('what a rule cannot be is refused, with the place', async t => {
  const refused = async (rule: object, status: number, errors: unknown) => {
    t.match(
      await ask('POST', rulesPath, rule, ada.headers),
      { status, body: { errors } },
      JSON.stringify(rule).slice(0, 200),
    )
  }
  await refused({ ...warm, selector: undefined }, 422, [{ path: 'selector' }])
  await refused({ ...warm, name: '' }, 422, [{ path: 'name' }])
  await refused({ ...warm, colour: 'red' }, 422, [{ message: /colour/ }])
  await refused({ ...warm, for_seconds: 604_801 }, 422, [{ path: 'for_seconds' }])
  await refused({ ...warm, condition: { kind: 'above', metric: 'temperature' } }, 422, [{ path: 'condition.value' }])
  await refused({ ...warm, channels: [1, 1] }, 422, [{ path: 'channels' }])
  await refused({ ...warm, selector: { devices: Array.from({ length: 1001 }, (_, at) => `d${at}`) } }, 422, [{}])
  t.match(await ask('POST', rulesPath, { ...warm, channels: [999] }, ada.headers), {
    status: 422,
    body: { title: 'channels unknown' },
  })
  const ofBob = await channelOf(bob.id, 'phone of bob')
  t.match(
    await ask('POST', rulesPath, { ...warm, channels: [ofBob] }, ada.headers),
    { status: 422 },
    'nobody rings for another',
  )
  const id = idOf(await ask('POST', rulesPath, { ...warm, name: 'taken' }, ada.headers))
  t.match(await ask('POST', rulesPath, { ...warm, name: 'taken' }, ada.headers), {
    status: 409,
    body: { title: 'name taken' },
  })
  t.match(
    await ask('POST', rulesPath, { ...warm, name: 'taken' }, bob.headers),
    { status: 201 },
    'a name is one owner’s',
  )
  t.match(await ask('PATCH', `${rulesPath}/${id}`, { selector: null }, ada.headers), {
    status: 422,
    body: { errors: [{ path: 'selector' }] },
  })
})

t.test('what the service says of itself is for the operator and whoever has the machine', async t => {
  const disk = { name: 'disk', condition: { kind: 'service', fact: 'disk_full', days: 7 } }
  for (const { headers } of [ada, admin]) {
    t.match(await ask('POST', rulesPath, disk, headers), { status: 403, body: { title: 'operator only' } })
    t.match(await ask('POST', `${rulesPath}/preview`, { rule: disk }, headers), { status: 403 })
    t.match(await ask('POST', `${rulesPath}/import`, { rules: [disk] }, headers), { status: 403 })
  }
  const id = idOf(await ask('POST', rulesPath, disk, operator.headers))
  t.match(await ask('POST', rulesPath, disk), { status: 201 })
  t.match(await ask('PATCH', `${rulesPath}/${id}`, { note: 'x' }, admin.headers), { status: 403 })
  t.match(await ask('DELETE', `${rulesPath}/${id}`, undefined, admin.headers), { status: 403 })
  t.match(await ask('DELETE', `${rulesPath}/${id}`, undefined, operator.headers), { status: 204 })
})

t.test('a file of rules gives the same rules, and the same file again changes nothing', async t => {
  const phone = await channelOf(ada.id, 'phone')
  const frost = {
    ...warm,
    name: 'frost',
    condition: { kind: 'below', metric: 'temperature', value: 2 },
    channels: [phone],
  }
  await ask('POST', rulesPath, frost, ada.headers)
  await ask('POST', rulesPath, { ...warm, name: 'a quiet one', enabled: false, note: 'later' }, ada.headers)
  const file = (await ask('GET', `${rulesPath}/export`, undefined, ada.headers)).body as { rules: { name: string }[] }
  t.strictSame(
    file.rules.map(({ name }) => name),
    ['a quiet one', 'frost', 'of ada', 'taken'],
  )
  t.match(file, { channels: [{ name: 'phone', kind: 'webhook', settings: {} }] })
  t.notMatch(JSON.stringify(file), /"id"|"owner"|created_at/)
  const imports = async (given: object, query = '', headers: Record<string, string> = ada.headers) =>
    (await ask('POST', `${rulesPath}/import${query}`, given, headers)).body
  t.strictSame(await imports(file), { added: 0, changed: 0, unchanged: 4, removed: 0 })
  t.strictSame(await imports(file, '?prune=1'), { added: 0, changed: 0, unchanged: 4, removed: 0 })

  const [, ...rest] = file.rules
  const changed = {
    ...file,
    rules: [
      ...rest.map(rule => (rule.name === 'frost' ? { ...rule, note: 'cover them' } : rule)),
      { ...warm, name: 'new' },
    ],
  }
  t.strictSame(await imports(changed), { added: 1, changed: 1, unchanged: 2, removed: 0 })
  t.strictSame(await imports(changed, '?prune=1'), { added: 0, changed: 0, unchanged: 4, removed: 1 })

  // Bob has a channel of another name; of Ada's rules he has none yet.
  t.match(await imports(file, '', bob.headers), {
    status: 422,
    errors: [{ path: 'channels[0].name' }, { path: 'rules[1].channels[0]' }],
  })
  await channelOf(bob.id, 'phone')
  t.match(await imports(file, '', bob.headers), { added: 3, changed: 0, unchanged: 1 })
  t.match((await ask('GET', `${rulesPath}/export`, undefined, bob.headers)).body, file)
})

t.test('a file is imported as a whole or not at all', async t => {
  const before = (await ask('GET', `${rulesPath}/export`, undefined, ada.headers)).body
  const rules = [
    { ...warm, name: 'one more' },
    { ...warm, name: 'broken', selector: undefined },
  ]
  t.match(await ask('POST', `${rulesPath}/import?prune=1`, { rules }, ada.headers), {
    status: 422,
    body: { errors: [{ path: 'rules[1].selector' }] },
  })
  t.match(await ask('POST', `${rulesPath}/import`, { rules: [warm, warm] }, ada.headers), {
    status: 422,
    body: { errors: [{ path: 'rules' }] },
  })
  const many = Array.from({ length: 1001 }, (_, at) => ({ ...warm, name: `r${at}` }))
  t.match(await ask('POST', `${rulesPath}/import`, { rules: many }, ada.headers), { status: 422 })
  t.match(await ask('POST', `${rulesPath}/import`, { rules: many.slice(0, 998) }, ada.headers), {
    status: 409,
    body: { title: 'too many rules' },
  })
  t.strictSame((await ask('GET', `${rulesPath}/export`, undefined, ada.headers)).body, before)
})

t.test('the rules of a device are those whose selector means it', async t => {
  const eve = await personOf('eve@example.com')
  owners.set('porch', eve.id)
  const selectors = {
    all: { all: true },
    tagged: { tags: ['site:*'] },
    named: { devices: ['porch'] },
    other: { devices: ['attic'] },
    elsewhere: { tags: ['site:paris'] },
  }
  for (const [name, selector] of Object.entries(selectors)) {
    await ask('POST', rulesPath, { name, selector, condition }, eve.headers)
  }
  const namesOf = async (query: string, headers = eve.headers) => {
    const { body } = await ask('GET', `${rulesPath}?${query}`, undefined, headers)
    return (body as { rules: { name: string }[] }).rules.map(({ name }) => name)
  }
  t.strictSame(await namesOf('device=porch'), ['all', 'tagged', 'named'])
  t.strictSame(await namesOf('device=porch&limit=2'), ['all', 'tagged'])
  t.strictSame(await namesOf('device=nowhere'), [])
  t.strictSame(await namesOf('device=cellar'), [], 'a device of somebody else is as one that is not there')
  t.ok((await namesOf('device=cellar&limit=1000', admin.headers)).includes('of ada'))
  t.strictSame(await namesOf(''), Object.keys(selectors))
})

type Listed = {
  alerts: { id: string; device: string; rule: string; state: string }[]
  next: string | null
  time_zone: string
}
async function list(query = '', headers?: Record<string, string>): Promise<string[]> {
  const { status, body } = await ask('GET', `${alertsPath}${query}`, undefined, headers)
  t.equal(status, 200, query)
  return (body as Listed).alerts.map(({ device, rule, state }) => `${rule} ${device} ${state}`)
}

t.test('people see alerts of their own rules, administrators all, newest first', async t => {
  t.strictSame(await list('', watcher.headers), ['hot d2 pending', 'hot d1 firing'])
  t.strictSame(await list('', bob.headers), [])
  t.strictSame(await list(), ['machine d2 resolved', 'hot d2 pending', 'hot d1 firing'])
  const { body } = await ask('GET', `${alertsPath}?state=firing`, undefined, watcher.headers)
  t.match(body, {
    next: null,
    time_zone: 'Europe/Berlin',
    alerts: [{ severity: 'critical', note: 'open a window', value: 31 }],
  })
  t.notMatch(JSON.stringify(body), /"owner"|device_number/)
})

t.test('the list is narrowed, and comes in pages', async t => {
  t.strictSame(await list('?state=firing,resolved'), ['machine d2 resolved', 'hot d1 firing'])
  t.strictSame(await list('?severity=critical&device=d2'), ['hot d2 pending'])
  t.strictSame(await list('?device=nobody'), [])
  t.strictSame(await list(`?rule=${ofMachine.id}`), ['machine d2 resolved'])
  t.strictSame(await list(`?since=${encodeURIComponent('2026-05-04T14:00:01+02:00')}`), [
    'hot d2 pending',
    'hot d1 firing',
  ])
  const first = (await ask('GET', `${alertsPath}?limit=2`)).body as Listed
  t.equal(first.alerts.length, 2)
  t.equal(first.next, first.alerts[1]?.id)
  t.strictSame(await list(`?limit=2&after=${first.next}`), ['hot d1 firing'])
  for (const query of [
    'state=open',
    'severity=',
    'limit=0',
    'limit=1001',
    'after=x',
    'since=yesterday',
    'tag=berlin',
    'rule=0',
    'page=2',
  ]) {
    t.match(await ask('GET', `${alertsPath}?${query}`), { status: 400, body: { title: 'invalid query' } }, query)
  }
})

t.test('the devices on which alerts fire are counted by their tags', async t => {
  const groups = async (query: string, headers?: Record<string, string>) =>
    (await ask('GET', `${alertsPath}/groups?${query}`, undefined, headers)).body
  const firing = { key: 'site', groups: [{ tag: 'site:berlin', devices: 1 }], others: 0, untagged: 0 }
  t.strictSame(await groups('key=site'), firing)
  t.strictSame(await groups('key=site&tag=site:berlin', watcher.headers), firing)
  t.strictSame(await groups('key=site&tag=site:bonn', watcher.headers), { ...firing, groups: [] })
  t.strictSame(await groups('key=room', watcher.headers), { key: 'room', groups: [], others: 0, untagged: 1 })
  t.strictSame(await groups('key=site', bob.headers), { ...firing, groups: [] })
  for (const query of ['', 'key=', 'key=Site', 'key=site&tag=berlin', 'key=site&state=firing']) {
    t.match(await ask('GET', `${alertsPath}/groups?${query}`), { status: 400, body: { title: 'invalid query' } }, query)
  }
})

t.test('a client that has the list already is told so', async t => {
  const first = await app.inject({ url: alertsPath, headers: watcher.headers })
  const { etag } = first.headers
  t.match(first.headers, { etag: /^W\//, 'cache-control': 'private, no-cache' })
  const again = await app.inject({ url: alertsPath, headers: { ...watcher.headers, 'if-none-match': String(etag) } })
  t.match(again, { statusCode: 304, body: '' })
  const other = await app.inject({ url: alertsPath, headers: { ...bob.headers, 'if-none-match': String(etag) } })
  t.equal(other.statusCode, 200)
})

t.test(
  'an alert is shown with its history and acknowledged once; that of somebody else is one that is not there',
  async t => {
    const { alerts } = (await ask('GET', `${alertsPath}?state=firing`)).body as Listed
    const one = `${alertsPath}/${alerts[0]?.id}`
    t.match(await ask('GET', one, undefined, watcher.headers), {
      status: 200,
      body: { rule: 'hot', acknowledged_at: null, events: [{ kind: 'pending' }, { kind: 'firing' }] },
    })
    t.match(await ask('GET', one, undefined, bob.headers), { status: 404, body: { title: 'alert unknown' } })
    t.match(await ask('POST', `${one}/acknowledge`, undefined, bob.headers), { status: 404 })
    const acknowledged = { acknowledged_by: `account ${watcher.id}`, acknowledged_at: String }
    t.match(await ask('POST', `${one}/acknowledge`, undefined, watcher.headers), { status: 200, body: acknowledged })
    t.match(await ask('POST', `${one}/acknowledge`), { status: 200, body: acknowledged })
    t.match((await ask('GET', one)).body, { events: [{}, {}, { kind: 'acknowledged' }] })
    const ended = (await ask('GET', `${alertsPath}?state=resolved`)).body as Listed
    t.match(await ask('POST', `${alertsPath}/${ended.alerts[0]?.id}/acknowledge`), {
      status: 409,
      body: { title: 'alert resolved' },
    })
    for (const id of ['0', 'x', '99999999999999999999', '123456']) {
      t.match(await ask('GET', `${alertsPath}/${id}`), { status: 404, body: { title: 'alert unknown' } }, id)
    }
  },
)

const untilText = '2026-05-04T14:00:00Z'

t.test('a silence is made, shown and ended', async t => {
  const body = { selector: { tags: ['site:berlin'] }, until: '2026-05-04T16:00:00+02:00', reason: 'works' }
  const made = await ask('POST', silencesPath, body)
  const { id } = made.body as { id: number }
  t.match(made, { status: 201, headers: { location: `${silencesPath}/${id}` } })
  const [from, to] = ['2026-05-04T12:00:00.000Z', '2026-05-04T14:00:00.000Z']
  const when = { from, until: to, weekly: null, is_active: true, created_at: from }
  const shown = {
    id,
    selector: body.selector,
    rule_id: null,
    reason: 'works',
    created_by: 'local admin token',
    ...when,
  }
  t.strictSame(made.body, shown)
  t.strictSame((await ask('GET', `${silencesPath}/${id}`)).body, shown)
  t.strictSame((await ask('GET', silencesPath)).body, { silences: [shown], next: null })
  t.equal((await ask('DELETE', `${silencesPath}/${id}`)).status, 204)
  for (const method of ['GET', 'DELETE'])
    t.match(await ask(method, `${silencesPath}/${id}`), { status: 404, body: { title: 'silence unknown' } })
  t.strictSame((await ask('GET', silencesPath)).body, { silences: [], next: null })
  const { rows } = await store.postgres.query(
    "SELECT action, subject FROM audit WHERE action LIKE 'silence%' ORDER BY id",
  )
  t.strictSame(rows, [
    { action: 'silence.add', subject: `silence ${id}` },
    { action: 'silence.remove', subject: `silence ${id}` },
  ])
})

t.test('one with weekly windows may last for ever, and is active in them', async t => {
  const weekly = (from: string) => [{ days: [1], from, until: '13:00' }]
  const made = async (from: string) =>
    (await ask('POST', silencesPath, { selector: { all: true }, weekly: weekly(from) })).body
  t.match([await made('12:00'), await made('12:01')], [{ until: null, is_active: true }, { is_active: false }])
})

t.test('what is none is refused', async t => {
  const faults: [object, RegExp][] = [
    [{ selector: { all: true } }, /weekly windows/],
    [{ selector: {}, until: untilText }, /devices, tags or all/],
    [{ selector: { all: true }, until: '2026-05-04' }, /./],
    [{ selector: { all: true }, until: untilText, reason: 'a\nb' }, /control characters/],
    [{ selector: { all: true }, until: untilText, owner: 1 }, /./],
  ]
  for (const [body, message] of faults) {
    const answer = await ask('POST', silencesPath, body)
    t.equal(answer.status, 422, JSON.stringify(body))
    t.match(JSON.stringify(answer.body), message)
  }
  const unknown = await ask('POST', silencesPath, { selector: { all: true }, until: untilText, rule_id: 999_999 })
  t.match(unknown, { status: 404, body: { title: 'rule unknown' } })
})

t.test('people see and end their own; there are as many as there may be', async t => {
  const ada = await personOf('ada@silences.example')
  const bob = await personOf('bob@silences.example')
  const made = await ask('POST', silencesPath, { selector: { all: true }, until: untilText }, ada.headers)
  t.match(made, { status: 201, body: { created_by: `account ${ada.id}` } })
  const { id } = made.body as { id: number }
  t.strictSame((await ask('GET', silencesPath, undefined, bob.headers)).body, { silences: [], next: null })
  for (const method of ['GET', 'DELETE'])
    t.equal((await ask(method, `${silencesPath}/${id}`, undefined, bob.headers)).status, 404)
  t.match(
    (await ask('GET', `${silencesPath}?limit=1`)).body,
    { silences: [{ id }], next: id },
    'administrators see all',
  )
  await store.postgres.query(
    `INSERT INTO alert_silences (owner, selector, from_at, until_at, reason, created_by, created_at)
     SELECT $1, '{"all":true}', now(), $2, '', '', now() FROM generate_series(1, $3)`,
    [ada.id, untilText, bounds.silencesPerOwner - 1],
  )
  const full = await ask('POST', silencesPath, { selector: { all: true }, until: untilText }, ada.headers)
  t.match(full, { status: 409, body: { title: 'too many silences' } })
  t.equal((await ask('POST', silencesPath, { selector: { all: true }, until: untilText }, bob.headers)).status, 201)
})

const previewed = {
  name: 'warm',
  selector: { all: true },
  condition: { kind: 'above', metric: 'temperature', value: 30 },
}

t.test('without a range it is about the last 30 days', async t => {
  t.match(await ask('POST', previewPath, { rule: { ...previewed, selector: { devices: ['d1'] } } }), {
    status: 200,
    body: {
      supported: true,
      from: text(nowMs - 30 * dayMs),
      to: text(nowMs),
      devices: [{ device: 'd1', count: 1, intervals: [{ from: text(nowMs - 30 * dayMs), to: null }] }],
      weeks: { length: 5 },
    },
  })
  const range = { from: '2026-11-20T02:00:00+02:00', to: '2027-01-01T00:00:00Z' }
  t.match(await ask('POST', previewPath, { rule: previewed, ...range }), {
    body: { from: '2026-11-20T00:00:00.000Z', to: text(nowMs) },
  })
})

t.test('a person’s preview is of their own devices', async t => {
  asked.length = 0
  const from = text(nowMs - dayMs)
  const { body } = await ask('POST', previewPath, { rule: previewed, from }, viewer.headers)
  t.match(body, { devices: [{ device: 'd2' }], total: 1 })
  t.equal((body as { devices: unknown[] }).devices.length, 1)
  t.match(
    await ask(
      'POST',
      previewPath,
      { rule: { ...previewed, selector: { devices: ['d1', 'd3'] } }, from },
      viewer.headers,
    ),
    {
      status: 200,
      body: { devices: [], total: 0 },
    },
  )
  t.strictSame(
    asked.flatMap(({ devices }) => devices.map(({ number }) => number)),
    [2],
  )
})

t.test('a range that cannot be is refused', async t => {
  const ranges = [
    { from: text(nowMs - 367 * dayMs) },
    { from: text(nowMs) },
    { from: text(nowMs - dayMs), to: text(nowMs - 2 * dayMs) },
    { from: '1969-12-31T00:00:00Z', to: '1970-01-02T00:00:00Z' },
  ]
  for (const range of ranges) {
    t.match(
      await ask('POST', previewPath, { rule: previewed, ...range }),
      { status: 422, body: { errors: [{ path: 'from' }] } },
      JSON.stringify(range),
    )
  }
  for (const from of ['yesterday', '2026-11-20T00:00:00', 1_780_000_000_000]) {
    t.match(
      await ask('POST', previewPath, { rule: previewed, from }),
      { status: 422, body: { errors: [{ path: 'from' }] } },
      String(from),
    )
  }
  t.match(await ask('POST', previewPath, { rule: { ...previewed, for_seconds: -1 } }), {
    status: 422,
    body: { errors: [{ path: 'rule.for_seconds' }] },
  })
  t.match(await ask('POST', previewPath, previewed), { status: 422 })
})

t.test('one that is too large says how many days fit', async t => {
  // Three devices have 72 readings a day.
  t.match(await ask('POST', previewPath, { rule: previewed, from: text(nowMs - 60 * dayMs) }), {
    status: 413,
    body: { title: 'preview too large', days: 26, detail: 'ask for at most 26 days of these devices' },
  })
})

t.test('when QuestDB does not answer, and when too many are made at once, it says so', async t => {
  reads = async function* () {
    yield* []
    throw new BodyInterrupted('DATABASE_AWAY')
  }
  t.match(await ask('POST', previewPath, { rule: previewed }), { status: 503, body: { title: 'database unavailable' } })
  reads = async function* () {
    yield* []
    throw new BodyInterrupted('CLOSING')
  }
  t.match(await ask('POST', previewPath, { rule: previewed }), { status: 503, body: { title: 'shutting down' } })
  const held = Promise.withResolvers<void>()
  let begun = 0
  reads = async function* () {
    begun++
    await held.promise
    yield* []
  }
  const running = [ask('POST', previewPath, { rule: previewed }), ask('POST', previewPath, { rule: previewed })]
  await until('both are under way', () => begun === 2)
  t.match(await ask('POST', previewPath, { rule: previewed }), {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { title: 'preview busy' },
  })
  held.resolve()
  for (const { status } of await Promise.all(running)) t.equal(status, 200)
  reads = hot
})

t.test('the body has a bound', async t => {
  const payload = JSON.stringify({ rule: { ...previewed, note: 'x'.repeat(70_000) } })
  const headers = { ...viewer.headers, 'content-type': 'application/json' }
  t.equal((await app.inject({ method: 'POST', url: previewPath, headers, payload })).statusCode, 413)
})
