/** Annotations of a whole service: permissions, formats, the command line, and their end with the device. */

import t from 'tap'
import { bounds } from '../../auth/annotations/annotation.ts'
import { barograph } from '../support/command-line.ts'
import { makePerson, type Person } from '../support/people.ts'
import { sharedService } from '../support/service.ts'

const service = await sharedService(t)
const { url } = service
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(url).port }
const run = (...words: string[]) => barograph(['annotations', ...words], { environment })

const owner = await makePerson(service)
const viewer = await makePerson(service, { viewer: true })
const administrator = await makePerson(service, { role: 'administrator' })
const unverified = await makePerson(service, { isUnverified: true })
const [porch, attic, cellar] = ['annotated-porch', 'annotated-attic', 'annotated-cellar']
for (const name of [porch, attic]) await service.addDevice(name, { owner: owner.id })
await service.addDevice(cellar)

async function ask(method: string, path: string, who?: Person, body?: unknown) {
  const headers = { origin: url, ...(who === undefined ? {} : { cookie: who.cookie }) }
  const sent = { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`${url}${path}`, { method, ...(body === undefined ? { headers } : sent) })
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  return { status: response.status, body: /json/.test(type) && !/ndjson/.test(type) ? JSON.parse(text) : text, type }
}

const write = (who: Person | undefined, body: object) => ask('POST', '/api/annotations', who, body)
const from = '2026-05-04T10:00:00.000Z'
const moment = { device: porch, from, to: null, text: 'filter changed' }
const annotationsOf = (name: string, query = '', who?: Person) =>
  ask('GET', `/api/device/${name}/annotations${query}`, who)

/** The annotation that covers all devices, including other files' devices. */
let seasonId = 0

t.test('the owner of a device annotates it, an administrator all devices', async t => {
  t.match(await write(owner, moment), { status: 201, body: { device: porch, from, to: null, text: 'filter changed' } })
  for (const who of [viewer, undefined, unverified]) t.not((await write(who, moment)).status, 201)
  t.match(await write(owner, { ...moment, device: cellar }), { status: 404, body: { title: 'device unknown' } })
  t.match(await write(owner, { ...moment, device: null }), { status: 404 })
  const season = { device: null, from: '2026-05-01T02:00:00+02:00', to: '2026-05-03T00:00:00Z', text: 'Fru\u0308hling' }
  const made = await write(administrator, season)
  t.match(made, { status: 201, body: { device: null, text: 'Fr\u00fchling' } })
  seasonId = made.body.id
  t.match(await write(administrator, { ...moment, device: cellar, text: 'dry' }), { status: 201 })
})

t.test('invalid annotations are refused', async t => {
  const refused = async (change: object, path: string) =>
    t.match(await write(owner, { ...moment, ...change }), { status: 422, body: { errors: [{ path }] } }, path)
  await refused({ text: '  ' }, 'text')
  await refused({ text: 'a\nb' }, 'text')
  await refused({ text: 'x'.repeat(bounds.textMax + 1) }, 'text')
  await refused({ from: '2026-05-04' }, 'from')
  await refused({ from: '1969-12-31T00:00:00Z' }, 'from')
  await refused({ to: from }, 'to')
  t.match(await write(owner, { device: porch, from }), { status: 422 })
})

t.test('readers of a device read its annotations, with their authors if signed in', async t => {
  const open = (await annotationsOf(porch)).body
  t.match(open, { device: porch, may_annotate: false, may_annotate_all: false })
  t.equal(open.annotations.length, 2)
  t.match(open.annotations, [
    { text: 'Fr\u00fchling', by: null, device: null },
    { text: 'filter changed', by: null, device: porch },
  ])
  t.match((await annotationsOf(porch, '', owner)).body, { may_annotate: true, may_annotate_all: false })
  t.match((await annotationsOf(porch, '', viewer)).body, { may_annotate: false })
  t.match((await annotationsOf(cellar, '', administrator)).body, { may_annotate: true, may_annotate_all: true })
  t.match(await annotationsOf('garage'), { status: 404 })
  const texts = async (query: string) =>
    (await annotationsOf(porch, query)).body.annotations.map(({ text }: { text: string }) => text)
  t.strictSame(await texts('?start=2026-05-02T00:00:00Z&end=2026-05-04T10:00:00Z'), ['Fr\u00fchling'])
  t.strictSame(await texts('?start=2026-05-03T00:00:00Z'), ['filter changed'])
  t.strictSame(await texts(`?start=${Date.parse(from)}`), ['filter changed'])
  t.match(await annotationsOf(porch, '?start=now'), { status: 400 })
  t.match(await annotationsOf(porch, '?format=xml'), { status: 400, body: { status: /format must be one of/ } })
})

t.test('they are exported as CSV and NDJSON', async t => {
  t.equal((await write(owner, { ...moment, device: attic, text: 'a, "b"' })).status, 201)
  const csv = await annotationsOf(attic, '?format=csv&start=2026-05-04T00:00:00Z')
  t.match(csv.type, 'text/csv')
  t.match(
    csv.body,
    /^id,device,from,to,text,by,written_at\r\n\d+,annotated-attic,2026-05-04T10:00:00\.000Z,,"a, ""b""",,2/,
  )
  for (const text of ['=HYPERLINK("x")', '+1', '-1', '@SUM(1)']) {
    const formula = (await write(owner, { ...moment, device: attic, text })).body
    const cells = (await annotationsOf(attic, '?format=csv&start=2026-05-04T00:00:00Z')).body
    const cell = text.includes('"') ? `"'${text.replaceAll('"', '""')}"` : `'${text}`
    t.ok(cells.includes(`,,${cell},,`), `${text} is not a formula of a spreadsheet`)
    t.equal((await ask('DELETE', `/api/annotations/${formula.id}`, owner)).status, 204)
  }
  const lines = (await annotationsOf(attic, '?format=ndjson')).body.trim().split('\n')
  t.match(JSON.parse(`[${lines.join()}]`), [{ device: null }, { device: attic, text: 'a, "b"' }])
})

t.test('they are changed and removed by who may write them', async t => {
  const { id } = (await write(owner, { ...moment, text: 'fan' })).body
  const path = `/api/annotations/${id}`
  for (const method of ['PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { text: 'x' } : undefined
    t.match(await ask(method, path, viewer, body), { status: 404, body: { title: 'annotation unknown' } })
  }
  const early = await ask('PATCH', path, owner, { to: '2026-05-04T09:00:00Z' })
  t.match(early, { status: 422, body: { errors: [{ path: 'to' }] } })
  t.match(await ask('PATCH', path, owner, {}), { status: 422 })
  const changed = await ask('PATCH', path, owner, { text: 'fan changed' })
  t.match(changed, { status: 200, body: { text: 'fan changed', from } })
  const own: { device: string }[] = (await ask('GET', '/api/annotations', owner)).body.annotations
  t.strictSame([...new Set(own.map(({ device }) => device))].sort(), [attic, porch])
  t.strictSame((await ask('GET', `/api/annotations?device=${cellar}`, owner)).body.annotations, [])
  t.match(await ask('DELETE', path, owner), { status: 204 })
  t.match(await ask('DELETE', path, owner), { status: 404 })
  const { stdout } = await barograph(['audit', '--json'], { environment })
  t.match(stdout, 'annotation.remove')
  t.notMatch(stdout, 'fan changed', 'the audit has no texts')
})

t.test('the command line adds, lists, changes and removes them', async t => {
  const added = JSON.parse((await run('add', 'snow', '--device', cellar, '--from', from, '--json')).stdout)
  t.match(added, { device: cellar, from, to: null, text: 'snow', by: null })
  t.match(await run('list', '--device', cellar), { status: 0, stdout: /snow\n[\s\S]*dry\n$/ })
  const id = String(added.id)
  t.match(await run('set', id, '--to', '2026-05-05T00:00:00Z'), { status: 0, stdout: /2026-05-05T00:00:00\.000Z/ })
  t.match(JSON.parse((await run('set', id, '--to', 'none', '--json')).stdout), { to: null })
  t.match(await run('set', id), { status: 2, stderr: /nothing to change/ })
  t.match(await run('add', 'snow'), { status: 2, stderr: /--device or --all/ })
  t.match(await run('remove', id), { status: 0, stdout: `removed annotation ${id}\n` })
  t.match(await run('remove', id), { status: 1, stderr: 'barograph: annotation unknown\n' })
})

t.test('a device that is removed is without them', async t => {
  t.equal((await service.admin('DELETE', `/devices/${porch}`)).status, 204)
  t.notMatch((await run('list')).stdout, 'filter changed')
  t.match(await ask('DELETE', `/api/annotations/${seasonId}`, administrator), { status: 204 })
})
