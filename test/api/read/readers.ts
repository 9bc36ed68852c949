/** The share that a private read counts towards, and the devices of a fleet that a link reads. */

import { fastify } from 'fastify'
import t from 'tap'
import { privateReads } from '../../../api/read/read-access.ts'
import { isWhole, type ReadableDevices } from '../../../api/read/readers.ts'
import { viewReader } from '../../../api/read/view-reader.ts'
import type { Device } from '../../../auth/devices/device.ts'
import { createScopeCheck } from '../../../auth/devices/selector.ts'
import { createAuthRateLimit } from '../../../auth/rate-limits.ts'
import type { Panel } from '../../../auth/views/panel.ts'
import { closing } from '../../support/databases.ts'
import { basic } from '../../support/service.ts'

t.test('all credentials of an account count as one, those of a device and the admin token separately', async t => {
  const account = { id: 7, role: 'administrator' }
  const principals: Record<string, object> = {
    session: { kind: 'session', account },
    bearer: { kind: 'bearer', account },
    key: { kind: 'key', account, keyId: 3, scopes: ['read'] },
    token: { kind: 'admin-token' },
  }
  const access = privateReads({
    findPrincipal: async ({ headers }) => principals[String(headers['x-who'])] as never,
    devices: { authenticate: (name: string) => (name === 'porch' ? { number: 5 } : undefined) } as never,
    authRateLimit: createAuthRateLimit(10, Date.now),
  })
  const app = closing(t, fastify())
  access.guard(app)
  app.get('/', async request => access.credentialOf(request))
  const credentialOf = async (headers: Record<string, string>) => (await app.inject({ url: '/', headers })).body
  for (const who of ['session', 'bearer', 'key']) t.equal(await credentialOf({ 'x-who': who }), 'account 7')
  t.equal(await credentialOf({ 'x-who': 'token' }), 'admin-token')
  t.equal(await credentialOf({ authorization: basic('porch', 'secret') }), 'device 5')
})

function made(number: number, name: string, location_short: string, tags: string[], owner: number | null): Device {
  return { number, name, location_short, tags, owner, log_switch: number !== 3 } as unknown as Device
}

const list = [
  made(1, 'porch', 'Front door', ['site:north'], 5),
  made(2, 'roof', 'Roof, north side', ['site:north', 'room:attic'], 5),
  made(3, 'shed', 'Garden', ['site:north'], 5),
  made(4, 'cellar', '', [], 5),
  made(5, 'safe', 'Front door', ['site:north'], 7),
]
const devices = {
  get: (name: string) => list.find(device => device.name === name),
  tagged(tags: readonly string[], owner?: number) {
    const all = list.filter(createScopeCheck({ owner, tags }))
    return { all, active: all.filter(({ log_switch }) => log_switch) }
  },
} as unknown as ReadableDevices

const ofOwner = { owner: 5, tags: undefined }
const names = (of: readonly Device[] | undefined) => of?.map(({ name }) => name)

t.test("a view link reads the owner's devices with the tags and the search of the view", async t => {
  const fleetOf = (address: string) => viewReader(devices, ofOwner, { address, devices: null }).fleet
  const allOf = (address: string) => names(fleetOf(address)?.all())
  t.strictSame(allOf('/'), ['porch', 'roof', 'shed', 'cellar'])
  t.strictSame(allOf('/?tag=site:north'), ['porch', 'roof', 'shed'])
  t.strictSame(allOf('/?tag=site:north&tag=room:*'), ['roof'])
  t.strictSame(allOf('/?q=%20NORTH'), ['roof'])
  t.strictSame(allOf('/?q=door&tag=site:north&state=silent'), ['porch'])
  t.strictSame(allOf('/?tag=site:south'), [])
  t.strictSame(names(fleetOf('/?tag=site:north')?.active()), ['porch', 'roof'])
  t.strictSame(names(fleetOf('/?q=o')?.tagged(['room:attic'])), ['roof'], 'further tags only narrow')
  t.strictSame(names(fleetOf('/?q=door')?.named), ['porch'], 'events are limited to these')
  t.strictSame(fleetOf('/?tag=site:north')?.scope, { owner: 5, tags: ['site:north'] })
})

t.test('the list, but not the map, shows the last 24 hours of its devices', t => {
  const listed = (address: string) =>
    list.map(({ name }) => name).filter(name => viewReader(devices, ofOwner, { address, devices: null }).listed?.(name))
  t.strictSame(listed('/'), ['porch', 'roof', 'shed', 'cellar'])
  t.strictSame(listed('/?tag=site:*&q=north'), ['roof'])
  t.strictSame(listed('/?q=door&state=silent'), ['porch'])
  t.strictSame(listed('/?show=map'), [])
  const reader = viewReader(devices, ofOwner, { address: '/device/porch', devices: [1] })
  t.equal(reader.listed, undefined, 'a link to a device reads about it alone')
  t.equal(viewReader(devices, ofOwner, { address: '/', devices: null }).device('porch'), undefined)
  t.end()
})

t.test('a view of an administrator reads any device, without the caches of whole-fleet readers', async t => {
  const { fleet } = viewReader(devices, { owner: undefined, tags: undefined }, { address: '/', devices: null })
  t.strictSame(names(fleet?.all()), ['porch', 'roof', 'shed', 'cellar', 'safe'])
  t.equal(fleet === undefined || isWhole(fleet), false)
})

t.test('a view reads a device by its number, while its owner has it', async t => {
  const reader = viewReader(devices, ofOwner, { address: '/device/porch', devices: [1, 5] })
  t.equal(reader.device('porch')?.number, 1)
  for (const name of ['roof', 'safe', 'none']) t.equal(reader.device(name), undefined, name)
  t.equal(reader.fleet, undefined)
})

t.test(
  'a link to a dashboard reads the devices of its panels, lists of the listed ones and places of the mapped ones',
  async t => {
    const panel: Panel = {
      kind: 'value',
      title: '',
      width: 1,
      devices: [],
      metrics: [],
      range: '24h',
      tags: [],
      search: '',
    }
    const readerOf = (...more: Partial<Panel>[]) =>
      viewReader(devices, ofOwner, {
        address: '/dashboard/1',
        devices: [1, 5],
        panels: more.map(one => ({ ...panel, ...one })),
      })
    const values = readerOf({})
    t.equal(values.device('porch')?.number, 1)
    for (const name of ['roof', 'safe', 'none']) t.equal(values.device(name), undefined, name)
    t.strictSame([values.fleet, values.mapped], [undefined, null])
    t.equal(readerOf({ kind: 'findings', devices: ['porch'] }).fleet, undefined, 'findings of a device')
    t.strictSame(names(readerOf({ kind: 'findings' }).fleet?.all()), ['porch', 'roof', 'shed', 'cellar'])
    const both = readerOf(
      { kind: 'list', search: 'garden' },
      { kind: 'list', tags: ['room:attic'] },
      { kind: 'map', tags: ['site:north'], search: 'door' },
    )
    t.strictSame(names(both.fleet?.all()), ['roof', 'shed'])
    t.equal(both.fleet !== undefined && isWhole(both.fleet), false)
    t.strictSame(names(both.mapped?.all()), ['porch'])
    t.equal(both.listed, undefined)
  },
)
