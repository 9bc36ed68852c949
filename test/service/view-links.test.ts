/** Links to views where reads are private: what they show, and that they show nothing else and change nothing. */

import t, { type Test } from 'tap'
import { createLinkToken } from '../../auth/keys/key-text.ts'
import { makePerson } from '../support/people.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const service = await startService(t, { environment: { ...withoutQuestdb, READS: 'private' } })
const { id: owner, cookie } = await makePerson(service)
for (const name of ['porch', 'roof']) await service.addDevice(name, { owner, tags: ['site:north'] })
await service.addDevice('cellar', { owner })
await service.addDevice('safe')
async function asOwner(method: string, path: string, body?: unknown) {
  const response = await fetch(`${service.url}/v1/auth/me${path}`, {
    method,
    headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
}

let views = 0
async function link(address: string): Promise<{ token: string; id: number; viewId: number }> {
  const view = await asOwner('POST', '/views', { name: `view ${views++}`, address })
  const viewId = Number(view.body['id'])
  const { body } = await asOwner('POST', `/views/${viewId}/links`, { expires_in_days: 7 })
  return { token: String(body['token']), id: Number(body['id']), viewId }
}

const by = (token: string, path: string, init: RequestInit = {}) =>
  fetch(`${service.url}${path}`, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } })
const statusOf = async (token: string, path: string, init: RequestInit = {}) => (await by(token, path, init)).status

async function isDead(t: Test, token: string, name: string): Promise<void> {
  for (const path of ['/v1/auth/shared-view', '/api/device/porch', '/api/fleet'])
    t.equal(await statusOf(token, path), 401, `${name}: ${path}`)
}

t.test('a link to a device reads about it, and about nothing else', async t => {
  const { token } = await link('/device/porch?range=7d')
  const shown = await by(token, '/v1/auth/shared-view')
  t.match(await shown.json(), { address: '/device/porch?range=7d' })
  const read = await by(token, '/api/device/porch')
  t.equal(read.status, 200)
  t.match(read.headers.get('cache-control'), /^private/)
  t.equal(await statusOf(token, '/api/latest/porch'), 503, 'let in, while QuestDB is away')
  const others = ['/api/device/roof', '/api/device/safe', '/api/device/none', '/api/latest/cellar']
  const analyses = ['/api/stats_data/roof', '/api/readings/roof?start=0', '/api/compare_data?a=porch&b=roof']
  const fleets = ['/api/fleet', '/api/fleet/insights', '/api/latest/all/24', '/api/latest/all/24?devices=roof']
  const events = ['/api/events', '/api/events?device=roof', '/api/events?device=porch&device=roof']
  for (const path of [...others, ...analyses, ...fleets, ...events, '/api/stations/DEL-01'])
    t.equal(await statusOf(token, path), 403, path)
})

t.test('an open stream of events ends when its link is revoked', async t => {
  const { token, id } = await link('/device/porch')
  const stream = await by(token, '/api/events?device=porch', { signal: AbortSignal.timeout(60_000) })
  t.equal(stream.status, 200)
  const ended = stream.text().then(
    () => 'ended',
    (error: Error) => (error.name === 'TimeoutError' ? 'open' : 'ended'),
  )
  t.equal((await asOwner('DELETE', `/view-links/${id}`)).status, 200)
  t.equal(await ended, 'ended')
})

t.test('a link to a comparison reads about both devices', async t => {
  const { token } = await link('/compare?a=porch&b=roof')
  for (const [path, status] of [
    ['/api/device/porch', 200],
    ['/api/device/roof', 200],
    ['/api/compare_data?a=porch&b=roof', 503],
    ['/api/compare_data?a=porch&b=cellar', 403],
    ['/api/device/cellar', 403],
  ] as const)
    t.equal(await statusOf(token, path), status, path)
})

t.test('a link to charts reads about the devices of their lines', async t => {
  const { token } = await link('/charts?line=temperature:porch&line=humidity:roof&range=7d')
  for (const [path, status] of [
    ['/api/device/porch', 200],
    ['/api/device/roof', 200],
    ['/api/device/cellar', 403],
  ] as const)
    t.equal(await statusOf(token, path), status, path)
})

t.test('a link shows annotations without the names of people', async t => {
  const annotation = { device: 'porch', from: '2026-05-04T10:00:00Z', to: null, text: 'filter changed' }
  const headers = { cookie, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(annotation) }
  t.equal((await fetch(`${service.url}/api/annotations`, init)).status, 201)
  const { token } = await link('/device/porch')
  const shown = { may_annotate: false, annotations: [{ text: 'filter changed', by: null }] }
  t.match(await (await by(token, '/api/device/porch/annotations')).json(), shown)
  t.equal(await statusOf(token, '/api/device/roof/annotations'), 403)
})

t.test('a link to the fleet reads about no single device', async t => {
  const { token } = await link('/?tag=site:north')
  t.equal(await statusOf(token, '/api/fleet'), 503, 'let in, while QuestDB is away')
  for (const path of ['/api/device/porch', '/api/latest/porch', '/api/events?device=porch', '/api/stations/DEL-01'])
    t.equal(await statusOf(token, path), 403, path)
})

t.test('a link to a list reads the 24 hours that it draws of its devices', async t => {
  const { token: list } = await link('/?tag=site:north')
  const { token: map } = await link('/?tag=site:north&show=map')
  const { token: device } = await link('/device/porch')
  const both = '/api/fleet/trends?device=porch&device=roof'
  t.equal(await statusOf(list, both), 503, 'let in, while QuestDB is away')
  for (const name of ['cellar', 'safe', 'none']) t.equal(await statusOf(list, `${both}&device=${name}`), 403, name)
  t.equal(await statusOf(map, both), 403, 'a map draws none')
  t.equal(await statusOf(device, both), 403)
})

t.test('a link to a list tells nobody where its devices are; one to a map does', async t => {
  const { token: list } = await link('/?tag=site:north')
  t.equal(await statusOf(list, '/api/fleet/map'), 403)
  const { token: map } = await link('/?tag=site:north&show=map')
  t.equal(await statusOf(map, '/api/fleet/map'), 503, 'let in, while QuestDB is away')
})

t.test('a link changes nothing, and opens no other interface', async t => {
  const { token } = await link('/device/porch')
  const json = { 'content-type': 'application/json' }
  const post = (body: object) => ({ method: 'POST', headers: json, body: JSON.stringify(body) })
  const put = { method: 'PUT', headers: json, body: JSON.stringify({ device: 'porch', temperature: 1 }) }
  for (const [path, init] of [
    ['/api/log', put],
    ['/api/log/batch', post([{ device: 'porch', temperature: 1 }])],
    ['/api/admin/devices', {}],
    ['/api/admin/devices', post({ name: 'mine' })],
    ['/api/admin/audit', {}],
    ['/api/alerts', {}],
    ['/api/alert-rules', post({})],
    ['/api/annotations', {}],
    ['/api/annotations', post({ device: 'porch', from: '2026-05-04T10:00:00Z', to: null, text: 'a' })],
    ['/v1/auth/me', {}],
    ['/v1/auth/me/views', {}],
    ['/v1/auth/me/views', post({ name: 'a', address: '/' })],
    ['/v1/auth/api-keys', {}],
    [`/v1/auth/users/${owner}`, {}],
    ['/api/v1.0/device/', {}],
  ] as const)
    t.equal(await statusOf(token, path, init), 401, `${'method' in init ? init.method : 'GET'} ${path}`)
})

t.test('a link that was changed, revoked or whose view is gone is refused', async t => {
  const { token, id, viewId } = await link('/device/porch')
  const flipped = `${token.slice(0, 20)}${token[20] === 'a' ? 'b' : 'a'}${token.slice(21)}`
  for (const [name, text] of Object.entries({ flipped, cut: token.slice(0, -1), made: createLinkToken(), empty: '' }))
    await isDead(t, text, name)
  t.equal(await statusOf(token, '/api/device/porch', { headers: { cookie } }), 401, 'beside another credential')
  t.equal(await statusOf(token, '/api/device/porch'), 200)
  t.match(await asOwner('DELETE', `/view-links/${id}`), { status: 200, body: { revoked_at: /Z$/ } })
  await isDead(t, token, 'revoked')
  t.match(await asOwner('DELETE', `/view-links/${id}`), { status: 200 }, 'and stays so')
  const other = await link('/device/porch')
  t.equal((await asOwner('DELETE', `/views/${other.viewId}`)).status, 204)
  await isDead(t, other.token, 'its view is removed')
  t.equal((await asOwner('DELETE', `/views/${viewId}`)).status, 204)
  t.match((await asOwner('DELETE', `/view-links/${id}`)).status, 404)
})

t.test('a link is made for devices that its owner reads', async t => {
  const create = async (address: string) => {
    const { body } = await asOwner('POST', '/views', { name: `view ${views++}`, address })
    return await asOwner('POST', `/views/${body['id']}/links`, { expires_in_days: 1 })
  }
  const refused = { status: 409 }
  for (const address of [
    '/device/safe',
    '/device/none',
    '/compare?a=porch&b=safe',
    '/compare',
    '/alerts',
    '/station/A',
  ])
    t.match(await create(address), refused, address)
  t.match(await asOwner('POST', '/views/999999/links', { expires_in_days: 1 }), { status: 404 })
  for (const days of [0, 366, 'x', null])
    t.equal((await asOwner('POST', '/views/1/links', { expires_in_days: days })).status, 422)
})

t.test('what its owner may not read any more, a link does not show either', async t => {
  const { token } = await link('/compare?a=porch&b=roof')
  t.equal(await statusOf(token, '/api/device/roof'), 200)
  t.equal((await service.admin('PATCH', '/devices/roof', { owner: null })).status, 200)
  t.equal(await statusOf(token, '/api/device/roof'), 403)
  t.equal(await statusOf(token, '/api/device/porch'), 200)
  t.equal((await service.admin('PATCH', `/accounts/${owner}`, { is_active: false })).status, 200)
  await isDead(t, token, 'the account is disabled')
})

t.test('no token is in the log', t => {
  t.notMatch(service.output(), /barograph_view_/)
  t.end()
})
