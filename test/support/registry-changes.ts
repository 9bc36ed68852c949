/** Every kind of change of what nodes hold in memory, each with arguments that a seed draws. */

import { inNewTransaction } from '../../auth/accounts/account-parts.ts'
import { administerAccount } from '../../auth/accounts/administration.ts'
import { insertAccount } from '../../auth/accounts/insert-account.ts'
import { changePreferences } from '../../auth/accounts/preferences.ts'
import { changeProfile, deleteAccount } from '../../auth/accounts/profile.ts'
import { NewDevice } from '../../auth/devices/device.ts'
import { NewMetric } from '../../metrics/metric.ts'
import type { KnownIds, Registries } from './registries.ts'
import { waitFor } from './wait-for.ts'

export interface World extends KnownIds {
  accounts: number[]
  tenants: number[]
  slugs: string[]
  passwords: Map<string, Set<string>>
  keys: string[]
  keyIds: [account: number, key: number][]
  sids: [account: number, sid: string][]
  stationSns: string[]
  acceptedFromMs: number
  count: number
}

export const emptyWorld = (): World => ({
  accounts: [],
  tenants: [],
  slugs: [],
  passwords: new Map(),
  keys: [],
  keyIds: [],
  sids: [],
  stationSns: [],
  acceptedFromMs: Date.UTC(2020, 0, 1),
  count: 0,
})

/** Draws a whole number below `below`. */
type Draw = (below: number) => number

type ChangeOf = (node: Registries, world: World, draw: Draw) => Promise<unknown>

const by = 'test'
const requester = { actor: by, accountId: undefined, mayReplace: () => true }
const client = { address: '127.0.0.1', network: '127.0.0.1', userAgent: undefined }
const metricNames = ['co2', 'wind_speed', 'sap_flow', 'level_a', 'level_b']

const pick = <Value>(values: readonly Value[], draw: Draw): Value | undefined => values[draw(values.length || 1)]
const nextName = (world: World, kind: string) => `${kind}-${world.count++}`
const aDevice = ({ devices }: Registries, draw: Draw) => pick(devices.all(), draw)

function remember(world: World, name: string, password: string): void {
  world.passwords.set(name, (world.passwords.get(name) ?? new Set()).add(password))
}

async function addDevice(node: Registries, world: World, more: object): Promise<void> {
  const name = nextName(world, 'device')
  const added = await node.devices.add([NewDevice.parse({ name, ...more })], by)
  // The owner may have been deleted meanwhile.
  if (added.ok) remember(world, name, added.value[0]?.password ?? '')
}

async function accountOf(node: Registries, world: World, draw: Draw) {
  const id = pick(world.accounts, draw)
  return id === undefined ? undefined : await node.accounts.find(id)
}

export const registryChanges: Readonly<Record<string, ChangeOf>> = {
  'add a device': (node, world) => addDevice(node, world, {}),
  'add a device with an owner': (node, world, draw) =>
    addDevice(node, world, { owner: pick(world.accounts.slice(1), draw) ?? null }),
  'add a device with metrics of the catalogue': (node, world, draw) =>
    addDevice(node, world, { metrics: [pick(['co2', 'eco2', 'wind_gust', 'soil_moisture'], draw)] }),
  async 'change a device'(node, _world, draw) {
    const device = aDevice(node, draw)
    const change = pick<object>(
      [
        { log_switch: false },
        { log_switch: true },
        { location_short: `l${draw(9)}` },
        { metrics: ['pm10'] },
        { metrics: null },
        { tags: [`room:r${draw(3)}`, 'site:berlin'] },
        { tags: [] },
      ],
      draw,
    )
    if (device !== undefined) await node.devices.change(device.name, change ?? {}, by)
  },
  async 'rename a device'(node, world, draw) {
    const device = aDevice(node, draw)
    if (device === undefined) return
    const { name } = device
    const to = nextName(world, 'renamed')
    const changed = await node.devices.change(name, { name: to }, by)
    if (changed.ok) world.passwords.set(to, world.passwords.get(name) ?? new Set())
  },
  async 'give a device another owner'(node, world, draw) {
    const device = aDevice(node, draw)
    const owner = pick([...world.accounts, null], draw) ?? null
    if (device !== undefined) await node.devices.change(device.name, { owner }, by)
  },
  async 'rotate a password'(node, world, draw) {
    const device = aDevice(node, draw)
    if (device === undefined) return
    const rotated = await node.devices.rotate(device.name, draw(2) === 0, by)
    if (rotated.ok) remember(world, rotated.value.device, rotated.value.password)
  },
  async 'remove a device'(node, _world, draw) {
    const device = aDevice(node, draw)
    if (device !== undefined) await node.devices.remove(device.number, by)
  },
  async 'remove a device by its name'(node, _world, draw) {
    const device = aDevice(node, draw)
    if (device !== undefined) await node.devices.removeNamed(device.name, async () => 'done', by)
  },
  'add a metric': ({ metrics }, _world, draw) =>
    metrics.add(NewMetric.parse({ name: pick(metricNames, draw), decimals: draw(3) }), by),
  async 'change a metric'({ metrics }, _world, draw) {
    const metric = pick(metrics.all(), draw)
    if (metric !== undefined) await metrics.change(metric.name, { color: `#00000${draw(10)}` }, by)
  },
  async 'change a range'({ metrics }, _world, draw) {
    const metric = pick(metrics.all(), draw)
    if (metric !== undefined) await metrics.change(metric.name, { min: draw(5), max: 5 + draw(5) }, by)
  },
  async 'remove a metric'({ metrics }, _world, draw) {
    const metric = pick(metrics.all(), draw)
    if (metric !== undefined) await metrics.remove(metric.name, by)
  },
  async 'first sight'(node, _world, draw) {
    const device = aDevice(node, draw)
    if (device === undefined) return
    const field = pick(metricNames, draw) ?? ''
    await node.metrics.ensure([{ device: device.number, field, owner: device.owner }], by)
  },
  async 'remove a series'(node, _world, draw) {
    const device = aDevice(node, draw)
    const metric = device && pick(node.metrics.metricsOf(device.number), draw)
    if (device !== undefined && metric !== undefined) {
      await node.metrics.removeSeries(device.number, metric.name, async (_, series) => series)
    }
  },
  async 'add an account'(node, world) {
    const email = `${nextName(world, 'person')}@example.com`
    const role = world.accounts.length === 0 ? ('operator' as const) : ('user' as const)
    const id = await inNewTransaction(node.accounts, transaction =>
      insertAccount(transaction, {
        email,
        passwordHash: null,
        name: null,
        image: null,
        isVerified: true,
        role,
        isViewer: false,
        tenant: null,
        nowMs: Date.now(),
      }),
    )
    world.accounts.push(id)
  },
  async 'change an account'(node, world, draw) {
    const id = pick(world.accounts, draw)
    const change = pick<object>(
      [
        { role: 'user' },
        { role: 'administrator' },
        { viewer: true },
        { viewer: false },
        { is_active: true },
        { is_active: false },
      ],
      draw,
    )
    if (id !== undefined) await administerAccount(node.accounts, id, change ?? {}, requester)
  },
  async 'move the operator'(node, world, draw) {
    const id = pick(world.accounts, draw)
    if (id !== undefined) await administerAccount(node.accounts, id, { role: 'operator' }, requester)
  },
  async 'change a profile'(node, world, draw) {
    const account = await accountOf(node, world, draw)
    if (account !== undefined) await changeProfile(node.accounts, account, { name: `n${draw(9)}` })
  },
  async 'change preferences'(node, world, draw) {
    const account = await accountOf(node, world, draw)
    if (account !== undefined) await changePreferences(node.accounts, account, { temperature: 'Cel' } as never)
  },
  async 'delete an account'(node, world, draw) {
    const account = draw(3) === 0 ? await accountOf(node, world, draw) : undefined
    if (account !== undefined) await deleteAccount(node.accounts, account)
  },
  async 'start a session'(node, world, draw) {
    const account = await accountOf(node, world, draw)
    if (account !== undefined) world.sids.push([account.id, (await node.sessions.start(account, client)).sid])
  },
  async 'revoke a session'(node, world, draw) {
    const [id, sid] = pick(world.sids, draw) ?? []
    const account = id === undefined ? undefined : await node.accounts.find(id)
    if (account !== undefined && sid !== undefined) await node.sessions.revoke(account, sid)
  },
  async 'create a key'(node, world, draw) {
    const account = await accountOf(node, world, draw)
    if (account === undefined) return
    const tags = draw(2) === 0 ? [] : ['site:berlin']
    const wanted = {
      name: 'k',
      scopes: ['read', 'ingest'] as const,
      createDevices: false,
      tags,
      expiresInDays: undefined,
    }
    const created = await node.keys.create(account, wanted)
    if (!created.ok) return
    world.keys.push(created.value.text)
    world.keyIds.push([account.id, created.value.id])
  },
  async 'revoke a key'(node, world, draw) {
    const [, id] = pick(world.keyIds, draw) ?? []
    if (id !== undefined) await node.keys.revokeAny(id, by)
  },
  async 'add a tenant'(node, world) {
    const slug = nextName(world, 'tenant')
    await node.tenants.add({ slug, name: slug }, by)
    world.slugs.push(slug)
    const found = await node.tenants.keysOf(slug)
    if (found !== undefined) world.tenants.push(found.id)
  },
  async 'switch a tenant'(node, world, draw) {
    const slug = pick(world.slugs, draw)
    if (slug !== undefined) await node.tenants.change(slug, { is_active: draw(2) === 0 }, by)
  },
  async 'rotate the secret of a tenant'(node, world, draw) {
    const slug = pick(world.slugs, draw)
    if (slug !== undefined) await node.tenants.rotate(slug, draw(2) === 0, by)
  },
  async 'add a station'(node, world, draw) {
    const sn = nextName(world, 'S')
    world.stationSns.push(sn)
    await node.stations.add({ sn, model: 'M1', owner: pick([...world.accounts, null], draw) ?? null }, by)
  },
  async 'change a station'(node, world, draw) {
    const station = await node.stations.find(pick(world.stationSns, draw) ?? '')
    if (station !== undefined) await node.stations.change(station.id, { private: draw(2) === 0 }, by)
  },
  async 'remove a station'(node, world, draw) {
    const station = draw(2) === 0 ? await node.stations.find(pick(world.stationSns, draw) ?? '') : undefined
    if (station !== undefined) await node.stations.remove(station, by)
  },
  async 'note data of a station'(node, world, draw) {
    const station = await node.stations.find(pick(world.stationSns, draw) ?? '')
    if (station === undefined) return
    node.stations.noteData(station, Date.now())
    const { savedLastDataMs } = station
    if (savedLastDataMs === null)
      await waitFor('it is saved', async () => (await node.stations.find(station.sn))?.savedLastDataMs !== null)
  },
  async 'raise what is accepted'(node, world) {
    world.acceptedFromMs += 86_400_000
    await node.acceptedFrom.raise(world.acceptedFromMs)
  },
}
