/** READS=private on the whole service: readable data by credentials and by links to views. */

import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { createLinkToken } from '../../auth/keys/key-text.ts'
import { heldText } from '../support/held-answers.ts'
import { makeKey, makePerson, makeTenantUser } from '../support/people.ts'
import { until } from '../support/processes.ts'
import { basic, startService } from '../support/service.ts'
import { lendQuestdb } from '../support/worker-questdb.ts'

const { settings } = await lendQuestdb(t)
const environment = { ...settings, READS: 'private' }
const service = await startService(t, { environment })
const viewer = await makePerson(service, { viewer: true })
const administrator = await makePerson(service, { role: 'administrator', isUnverified: true })
const [ada, bob, stranger] = [await makePerson(service), await makePerson(service), await makePerson(service)]
const eve = await makePerson(service, { isUnverified: true })
const [guest, guide] = [await makeTenantUser(service, 'acme'), await makeTenantUser(service, 'zenith')]
await service.admin('PATCH', `/accounts/${guide.id}`, { viewer: true })

/** Whose each device is, by the id. */
const owners = { porch: ada.id, cellar: ada.id, attic: bob.id, lantern: guest.id, squatted: eve.id, nobodys: null }
const names = Object.keys(owners)
/** The device has both tags that some keys are limited to. */
const tagged = ['porch', 'attic', 'nobodys']
/** Each somewhere else, so that a map names them. */
const placeOf = (name: string) => ({ latitude: 10 * names.indexOf(name), longitude: 20 })
const passwords: Record<string, string> = {}
for (const [name, owner] of Object.entries(owners)) {
  const tags = tagged.includes(name) ? ['room:1', 'site:berlin'] : ['site:berlin']
  passwords[name] = await service.addDevice(name, { owner, location_short: `at ${name}`, tags, ...placeOf(name) })
}
const own = { authorization: basic('porch', passwords['porch'] ?? '') }
const cookie = { cookie: ada.cookie }
const keyOf = async ({ cookie }: { cookie: string }, scope: string, more = {}) => ({
  'x-api-key': await makeKey(service.url, cookie, [scope], more),
})
const limitedKeyOf = (person: { cookie: string }) => keyOf(person, 'read', { tags: ['site:berlin', 'room:1'] })
const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` })

const minuteMs = 60_000
const startMs = Math.floor(Date.now() / minuteMs - 90) * minuteMs
const rows = names.flatMap((name, place) =>
  Array.from({ length: 90 }, (_, i) => `${name},${new Date(startMs + i * minuteMs).toISOString()},${place},50,1000`),
)
await service.import(`device,timestamp,temperature,humidity,pressure\n${rows.join('\n')}\n`)
const { authorization } = bearerOf(readFileSync(`${service.dataDirectory}/secrets/admin-token`, 'utf8').trim())
const metrics = async () => await (await fetch(`${service.url}/metrics`)).text()
await until('queries show all readings', async () => /^barograph_lag_readings 0$/m.test(await metrics()))
await until('the fleet is known', async () => {
  const response = await fetch(`${service.url}/api/fleet`, { headers: { authorization } })
  return response.status === 200 && !('catching_up' in ((await response.json()) as object))
})

interface Sent {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the shapes have tests of their own
  json(): any
}

/** Only the head of a stream of events is read. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Sent> {
  const response = await fetch(`${service.url}/api${path}`, { headers, method })
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (isStream) await response.body?.cancel()
  const text = isStream ? '' : await heldText(method, response)
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
}

// Requests.

interface AskedRead {
  path: string
  /** Undefined: the whole fleet. */
  devices?: string[]
}

const day = new Date(startMs).toISOString().slice(0, 10)
/** Reads of one device, and reads of several ones that name it. */
const readsOf = (name: string): AskedRead[] =>
  [
    ...['device', 'latest', 'detail_data', 'stats_data', 'daily_summary', 'domain'].map(read => `/${read}/${name}`),
    ...[`/readings/${name}?start=${startMs}`, `/data/day/${name}/${day}`],
    ...[`/device/${name}/annotations`, `/device/${name}/contact`],
    ...[`/events?device=${name}`, `/fleet/trends?device=${name}`, `/latest/all/1?devices=${name}`],
    ...[`/compare_data?a=${name}&b=${name}`, `/excursions/${name}?metric=temperature&above=20`],
  ].map(path => ({ path, devices: [name] }))
const reads: AskedRead[] = [
  ...['porch', 'attic', 'unknown'].flatMap(readsOf),
  ...['cellar', 'attic'].flatMap(other => [
    { path: `/compare_data?a=porch&b=${other}`, devices: ['porch', other] },
    { path: `/events?device=porch&device=${other}`, devices: ['porch', other] },
    { path: `/latest/all/1?devices=porch,${other}`, devices: ['porch', other] },
  ]),
  ...['/fleet', '/fleet/insights', '/fleet/groups?key=site', '/fleet/map', '/events', '/latest/all/1'].map(path => ({
    path,
  })),
]

// Readers and their readable devices.

interface Asker {
  headers: Record<string, string>
  /** Devices, or the answer to everything. */
  reads: readonly string[] | { status: number; text: string }
  isDevice?: boolean
}

const unauthorized = { status: 401, text: 'unauthorized' }
const unverified = { status: 403, text: 'e-mail address not verified' }
const askers: Record<string, Asker> = {
  nobody: { headers: {}, reads: unauthorized },
  'a device': { headers: own, reads: ['porch'], isDevice: true },
  'a person who owns two devices': { headers: cookie, reads: ['porch', 'cellar'] },
  'her token': { headers: bearerOf(await ada.bearer()), reads: ['porch', 'cellar'] },
  'her key': { headers: await keyOf(ada, 'read'), reads: ['porch', 'cellar'] },
  'her key that is limited to tags': { headers: await limitedKeyOf(ada), reads: ['porch'] },
  'her key that may not read': { headers: await keyOf(ada, 'stations'), reads: { status: 403, text: 'forbidden' } },
  'a stranger': { headers: { cookie: stranger.cookie }, reads: [] },
  'an unverified person who owns a device': { headers: { cookie: eve.cookie }, reads: unverified },
  'a viewer': { headers: { cookie: viewer.cookie }, reads: names },
  'an administrator': { headers: { cookie: administrator.cookie }, reads: names },
  'the limited key of an administrator': { headers: await limitedKeyOf(administrator), reads: tagged },
  'a user of a tenant': { headers: bearerOf(guest.bearer), reads: ['lantern'] },
  'a viewer of a tenant': { headers: bearerOf(guide.bearer), reads: names },
  'the admin token': { headers: { authorization }, reads: names },
}

/** All readers are found in one place, so most of them need one read of each kind only. */
const few = ['/fleet', '/events', '/latest/all/1', '/device/porch', '/device/attic', '/compare_data?a=porch&b=attic']
const askedWhole = ['a device', 'a person who owns two devices']

/** Names of devices in the answer that are not among these. */
const strange = (text: string, reads: readonly string[]) =>
  names.filter(name => !reads.includes(name) && text.includes(name))

function check(t: Test, { path, devices }: AskedRead, answer: Sent, { reads: readable, isDevice = false }: Asker) {
  const expectRefusal = (status: number, text: string) =>
    t.match([answer.status, answer.json()], [status, { status: text }], path)
  if ('status' in readable) expectRefusal(readable.status, readable.text)
  else if (devices?.every(device => readable.includes(device)) ?? !isDevice) {
    t.equal(answer.status, 200, `${path} ${answer.status === 200 ? '' : answer.text}`)
    t.strictSame(strange(answer.text, readable), [], path)
  } else if (isDevice) expectRefusal(403, 'device mismatch')
  else expectRefusal(404, 'device unknown')
  const cacheControl = answer.status === 200 ? /private|^no-store$/ : /^private, no-store$/
  t.match(answer.headers.get('cache-control'), cacheControl, path)
}

for (const [who, asker] of Object.entries(askers)) {
  t.test(`${who}: reads and refusals`, async t => {
    for (const read of reads) {
      if (askedWhole.includes(who) || few.includes(read.path))
        check(t, read, await ask(read.path, asker.headers), asker)
    }
  })
}

t.test("another owner's device is answered like an unknown one", async t => {
  const headersOf = (answer: Sent) => [...answer.headers].filter(([name]) => name !== 'date')
  for (const { path } of readsOf('attic')) {
    const [foreign, unknown] = [await ask(path, cookie), await ask(path.replaceAll('attic', 'unknown'), cookie)]
    t.strictSame([foreign.status, foreign.text], [unknown.status, unknown.text], path)
    t.strictSame(headersOf(foreign), headersOf(unknown), path)
  }
})

t.test('the fleet of an owner: counts, states, search, pages and tags are of her devices', async t => {
  const fleet = async (query = '', headers: Record<string, string> = cookie) =>
    (await ask(`/fleet${query}`, headers)).json()
  const listed = async (query: string) => (await fleet(query)).devices.map(({ device }: { device: string }) => device)
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)
  t.strictSame(await listed('?order=name'), ['cellar', 'porch'])
  t.equal(sum((await fleet('?state=off')).counts), 2, 'also where other states are asked for')
  t.equal(sum((await fleet('', { authorization })).counts), names.length)
  t.strictSame(await listed('?tag=room:1'), ['porch'])
  const limited = await fleet('?order=name&tag=site:berlin', await limitedKeyOf(ada))
  t.strictSame([limited.devices.map(({ device }: { device: string }) => device), sum(limited.counts)], [['porch'], 1])
  const first = await fleet('?order=name&limit=1')
  t.match(await fleet(`?order=name&limit=1&after=${first.next}`), { devices: [{ device: 'porch' }], next: null })
  t.strictSame(await listed('?order=name&after=attic'), ['cellar', 'porch'], "behind another owner's device")
  t.strictSame(await listed('?q=attic'), [])
  const [hers, his] = [await ask('/fleet', cookie), await ask('/fleet', { cookie: bob.cookie })]
  const tag = hers.headers.get('etag') ?? ''
  t.equal((await ask('/fleet', { ...cookie, 'if-none-match': tag })).status, 304)
  t.equal((await ask('/fleet', { cookie: bob.cookie, 'if-none-match': tag })).status, 200)
  t.not(tag, his.headers.get('etag'))
  t.match(hers.headers.get('vary'), /cookie/)
  t.match(hers.headers.get('vary'), /authorization/)
})

t.test('the map of an owner has only her devices, without positions of others', async t => {
  const map = async (headers: Record<string, string>, query = '') => (await ask(`/fleet/map${query}`, headers)).json()
  const byName = (a: string, b: string) => (a < b ? -1 : 1)
  const marked = ({ marks }: { marks: { devices: { device: string }[] }[] }) =>
    marks.flatMap(({ devices }) => devices.map(({ device }) => device)).sort(byName)
  const hers = await map(cookie)
  t.strictSame(marked(hers), ['cellar', 'porch'])
  t.strictSame(hers.extent, { west: 20, south: 0, east: 20, north: 10 })
  t.match(await map({ cookie: stranger.cookie }), { extent: null, marks: [], unplaced: { silent: 0 } })
  t.strictSame(marked(await map({ authorization })), names.toSorted(byName))
})

t.test('the latest readings and insights of an owner cover her devices in a separate cache', async t => {
  const listed = async (headers: Record<string, string>, query = '') => {
    const { data } = (await ask(`/latest/all/2${query}`, headers)).json()
    return data.map((one: { device: string; temperature: unknown[] }) => one.temperature.length > 0 && one.device)
  }
  for (let turn = 0; turn < 2; turn++) {
    t.strictSame(await listed(cookie), ['cellar', 'porch'])
    t.strictSame(await listed({ cookie: bob.cookie }), ['attic'])
    t.strictSame(await listed({ cookie: stranger.cookie }), [])
    t.equal((await listed({ cookie: viewer.cookie })).length, names.length)
    t.strictSame(await listed(cookie, '?devices=porch'), ['porch'])
    const insights = (await ask('/fleet/insights', cookie)).json()
    t.match(insights, { batteries: [], outliers: [] })
  }
})

t.test('a device with a new owner disappears at once', async t => {
  const change = (owner: number) => service.admin('PATCH', '/devices/cellar', { owner })
  const listed = async (headers: Record<string, string>) => {
    const [fleet, latest] = [await ask('/fleet?order=name', headers), await ask('/latest/all/2', headers)]
    const namesIn = (list: { device: string }[]) => list.map(({ device }) => device)
    return [namesIn(fleet.json().devices), namesIn(latest.json().data), (await ask('/device/cellar', headers)).status]
  }
  t.strictSame(await listed(cookie), [['cellar', 'porch'], ['cellar', 'porch'], 200])
  t.match(await change(bob.id), { status: 200 })
  t.strictSame(await listed(cookie), [['porch'], ['porch'], 404])
  t.strictSame(await listed({ cookie: bob.cookie }), [['attic', 'cellar'], ['attic', 'cellar'], 200])
  t.match(await change(ada.id), { status: 200 })
  t.strictSame(await listed(cookie), [['cellar', 'porch'], ['cellar', 'porch'], 200])
  await service.admin('PATCH', `/accounts/${viewer.id}`, { viewer: false })
  t.strictSame(await listed({ cookie: viewer.cookie }), [[], [], 404])
})

t.test('an invalid credential reads nothing', async t => {
  const bad = [
    { 'x-api-key': 'wrong' },
    { ...own, ...(await keyOf(ada, 'read')) },
    { cookie: 'authjs.session-token=x' },
    { 'x-service-secret': readFileSync(`${service.dataDirectory}/secrets/service-secret`, 'utf8').trim() },
  ]
  for (const headers of bad) {
    for (const method of ['GET', 'HEAD']) t.equal((await ask('/fleet', headers, method)).status, 401)
    const answer = await ask('/device/porch', headers)
    t.equal(answer.status, 401)
    t.strictSame(answer.json(), { status: 'unauthorized' })
    t.equal(answer.headers.get('www-authenticate'), 'Bearer realm="logger"')
    t.equal(answer.headers.get('access-control-allow-origin'), '*')
  }
})

t.test("a client's cached response is private and not confirmed to others", async t => {
  const answer = await ask('/device/porch', cookie)
  t.equal(answer.headers.get('cache-control'), 'private, max-age=10')
  const known = { 'if-none-match': answer.headers.get('etag') ?? '' }
  t.equal((await ask('/device/porch', { ...known, ...cookie })).status, 304)
  t.equal((await ask('/device/porch', known)).status, 401)
  t.equal((await ask('/device/porch', { ...known, cookie: bob.cookie })).status, 404)
})

// Links to views.

const json = { 'content-type': 'application/json' }

async function asPerson({ cookie }: { cookie: string }, method: string, path: string, body?: unknown) {
  const sent =
    body === undefined ? { headers: { cookie } } : { headers: { cookie, ...json }, body: JSON.stringify(body) }
  const response = await fetch(`${service.url}/v1/auth/me${path}`, { method, ...sent })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
}

let views = 0
async function linkTo(shown: string | object[], person: { cookie: string } = ada) {
  const content = typeof shown === 'string' ? { address: shown } : { panels: shown }
  const view = await asPerson(person, 'POST', '/views', { name: `view ${views++}`, ...content })
  const viewId = Number(view.body['id'])
  const { status, body } = await asPerson(person, 'POST', `/views/${viewId}/links`, { expires_in_days: 7 })
  return { status, token: String(body['token']), id: Number(body['id']), viewId }
}

const by = (token: string, path: string, init: RequestInit = {}) =>
  fetch(`${service.url}${path}`, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } })

async function statusOf(token: string, path: string, init: RequestInit = {}): Promise<number> {
  const { status, body } = await by(token, path, init)
  await body?.cancel()
  return status
}

async function isDead(t: Test, token: string, name: string): Promise<void> {
  for (const path of ['/v1/auth/shared-view', '/api/device/porch', '/api/fleet'])
    t.equal(await statusOf(token, path), 401, `${name}: ${path}`)
}

const trends = '/api/fleet/trends?device=porch&device=cellar'
const linked: [address: string, reads: string[], refused: string[]][] = [
  [
    '/device/porch?range=7d',
    ['/api/device/porch', '/api/latest/porch', '/api/events?device=porch', '/api/device/porch/annotations'],
    [
      ...['/api/device/cellar', '/api/device/attic', '/api/device/none', '/api/readings/cellar?start=0'],
      ...['/api/compare_data?a=porch&b=cellar', '/api/fleet', '/api/fleet/insights', '/api/fleet/map', trends],
      ...['/api/latest/all/24', '/api/events', '/api/events?device=porch&device=cellar', '/api/stations/DEL-01'],
    ],
  ],
  [
    '/compare?a=porch&b=cellar',
    ['/api/device/porch', '/api/device/cellar', '/api/compare_data?a=porch&b=cellar'],
    ['/api/compare_data?a=porch&b=attic', '/api/device/attic'],
  ],
  ['/charts?line=temperature:porch&range=7d', ['/api/device/porch'], ['/api/device/cellar']],
  [
    '/?tag=site:berlin',
    ['/api/fleet', trends],
    ['/api/device/porch', '/api/latest/porch', '/api/events?device=porch', `${trends}&device=attic`, '/api/fleet/map'],
  ],
  ['/?tag=site:berlin&show=map', ['/api/fleet/map'], [trends]],
]

t.test('a link reads only the contents of its view', async t => {
  const annotation = { device: 'porch', from: '2026-05-04T10:00:00Z', to: null, text: 'filter changed' }
  const init = { method: 'POST', headers: { ...cookie, ...json }, body: JSON.stringify(annotation) }
  t.equal((await fetch(`${service.url}/api/annotations`, init)).status, 201)
  for (const [address, readable, refused] of linked) {
    const { token } = await linkTo(address)
    t.match(await (await by(token, '/v1/auth/shared-view')).json(), { address })
    for (const path of readable) t.equal(await statusOf(token, path), 200, `${address} ${path}`)
    for (const path of refused) t.equal(await statusOf(token, path), 403, `${address} ${path}`)
    if (address !== linked[0]?.[0]) continue
    const shown = { may_annotate: false, annotations: [{ text: 'filter changed', by: null }] }
    t.match(await (await by(token, '/api/device/porch/annotations')).json(), shown, 'without the names of people')
    t.match((await by(token, '/api/device/porch')).headers.get('cache-control'), /^private/)
  }
})

t.test('a link to a dashboard reads what its panels show, also after they were changed', async t => {
  const value = (...devices: string[]) => ({ kind: 'value', devices, metrics: ['temperature'] })
  const { token, viewId } = await linkTo([value('porch', 'attic', 'gone')])
  const shared = (await (await by(token, '/v1/auth/shared-view')).json()) as { panels: object[] }
  t.match(shared, { address: `/dashboard/${viewId}`, panels: [value('porch', 'attic', 'gone')] })
  const statuses = async () => {
    const paths = ['/api/latest/porch', '/api/latest/cellar', '/api/latest/attic', '/api/fleet', '/api/fleet/map']
    return await Promise.all(paths.map(path => statusOf(token, path)))
  }
  t.strictSame(await statuses(), [200, 403, 403, 403, 403])
  const panels = [value('cellar'), { kind: 'list', tags: ['site:berlin'] }]
  t.equal((await asPerson(ada, 'PATCH', `/views/${viewId}`, { panels })).status, 200)
  t.strictSame(await statuses(), [403, 200, 403, 200, 403])
  t.equal((await asPerson(ada, 'PATCH', `/views/${viewId}`, { panels: [{ kind: 'map' }] })).status, 200)
  t.strictSame(await statuses(), [403, 403, 403, 403, 200])
})

t.test('a link changes nothing and opens no other interface', async t => {
  const { token } = await linkTo('/device/porch')
  const post = (body: object) => ({ method: 'POST', headers: json, body: JSON.stringify(body) })
  const put = { method: 'PUT', headers: json, body: JSON.stringify({ device: 'porch', temperature: 1 }) }
  for (const [path, init] of [
    ['/api/log', put],
    ['/api/log/batch', post([{ device: 'porch', temperature: 1 }])],
    ['/api/admin/devices', {}],
    ['/api/alerts', {}],
    ['/api/alert-rules', post({})],
    ['/api/annotations', post({ device: 'porch', from: '2026-05-04T10:00:00Z', to: null, text: 'a' })],
    ['/v1/auth/me', {}],
    ['/v1/auth/me/views', post({ name: 'a', address: '/' })],
    ['/v1/auth/api-keys', {}],
    ['/api/v1.0/device/', {}],
  ] as const)
    t.equal(await statusOf(token, path, init), 401, `${'method' in init ? init.method : 'GET'} ${path}`)
})

t.test('a link that is changed, revoked or without its view is refused, and its streams end', async t => {
  const { token, id, viewId } = await linkTo('/device/porch')
  const flipped = `${token.slice(0, 20)}${token[20] === 'a' ? 'b' : 'a'}${token.slice(21)}`
  for (const [name, text] of Object.entries({ flipped, made: createLinkToken(), empty: '' }))
    await isDead(t, text, name)
  t.equal(await statusOf(token, '/api/device/porch', { headers: cookie }), 401, 'beside another credential')
  const stream = await by(token, '/api/events?device=porch')
  const ended = stream.text().catch(() => undefined)
  t.match(await asPerson(ada, 'DELETE', `/view-links/${id}`), { status: 200, body: { revoked_at: /Z$/ } })
  await ended
  await isDead(t, token, 'revoked')
  const other = await linkTo('/device/porch')
  t.equal((await asPerson(ada, 'DELETE', `/views/${other.viewId}`)).status, 204)
  await isDead(t, other.token, 'its view is removed')
  t.equal((await asPerson(ada, 'DELETE', `/views/${viewId}`)).status, 204)
  t.equal((await asPerson(ada, 'DELETE', `/view-links/${id}`)).status, 404)
  t.notMatch(service.output(), /barograph_view_/, 'no token is in the log')
})

t.test('a link covers readable devices of its owner and ends with their loss', async t => {
  const unreadable = ['/device/attic', '/device/none', '/compare?a=porch&b=attic', '/compare', '/alerts', '/station/A']
  for (const address of unreadable) t.equal((await linkTo(address)).status, 409, address)
  t.match(await asPerson(ada, 'POST', '/views/999999/links', { expires_in_days: 1 }), { status: 404 })
  const { viewId } = await linkTo('/device/porch')
  for (const days of [0, 366, 'x'])
    t.equal((await asPerson(ada, 'POST', `/views/${viewId}/links`, { expires_in_days: days })).status, 422)
  const leaver = await makePerson(service)
  for (const name of ['left', 'right']) await service.addDevice(name, { owner: leaver.id })
  const { token } = await linkTo('/compare?a=left&b=right', leaver)
  t.equal(await statusOf(token, '/api/device/right'), 200)
  t.equal((await service.admin('PATCH', '/devices/right', { owner: null })).status, 200)
  t.strictSame([await statusOf(token, '/api/device/right'), await statusOf(token, '/api/device/left')], [403, 200])
  t.equal((await service.admin('PATCH', `/accounts/${leaver.id}`, { is_active: false })).status, 200)
  await isDead(t, token, 'the account is disabled')
})

interface Followed {
  text(): string
  ended: Promise<void>
}

async function follow(path: string, headers: Record<string, string>): Promise<Followed> {
  const response = await fetch(`${service.url}/api/events${path}`, { headers })
  let text = ''
  const pieces = response.body?.values() as AsyncIterableIterator<Uint8Array>
  const ended = (async () => {
    for await (const piece of pieces) text += Buffer.from(piece).toString()
  })().catch(() => undefined)
  await until('the stream begins', () => text.startsWith('retry: 3000\n'))
  return { text: () => text, ended }
}

t.test('stored readings reach all permitted streams, which end with the service', async t => {
  const followed = {
    device: await follow('?device=porch', own),
    owner: await follow('', cookie),
    stranger: await follow('', { cookie: stranger.cookie }),
    administrator: await follow('', { authorization }),
  }
  let value = 20
  const send = async (...devices: string[]) => {
    for (const device of devices) {
      const reading = { device, temperature: ++value, humidity: 40, pressure: 1000, timestamp: Date.now() }
      t.equal((await service.put(device, passwords[device] ?? '', reading)).status, 200)
    }
    await until('it is reported', () => followed.administrator.text().includes(`"temperature":${value},`))
  }
  const devicesOf = (name: keyof typeof followed) =>
    [...followed[name].text().matchAll(/event: reading\ndata: \{"device":"(\w+)"/g)].map(([, device]) => device)
  await send('attic', 'cellar', 'lantern', 'porch')
  t.match(await service.admin('PATCH', '/devices/cellar', { owner: bob.id }), { status: 200 })
  await send('cellar', 'porch')
  // Each has a connection of its own.
  for (const [name, count] of Object.entries({ device: 2, owner: 3 }))
    await until(`${name} got its readings`, () => devicesOf(name as keyof typeof followed).length >= count)
  t.strictSame(devicesOf('administrator'), ['attic', 'cellar', 'lantern', 'porch', 'cellar', 'porch'])
  t.strictSame(devicesOf('device'), ['porch', 'porch'])
  t.strictSame(devicesOf('owner'), ['cellar', 'porch', 'porch'], 'until the device is given away')
  t.strictSame(devicesOf('stranger'), [])
  t.equal(await service.end('SIGTERM'), 0)
  for (const { ended } of Object.values(followed)) await ended
})
