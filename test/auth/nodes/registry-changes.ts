/** Every kind of change of the nodes' memory, each with random arguments. */

import { inNewTransaction } from '../../../auth/accounts/account-parts.ts'
import { administerAccount } from '../../../auth/accounts/administration.ts'
import { changePreferences, changeProfile, deleteAccount } from '../../../auth/accounts/profile.ts'
import { insertAccount } from '../../../auth/accounts/registration.ts'
import { NewDevice } from '../../../auth/devices/device.ts'
import { NewMetric } from '../../../store/metrics/metric.ts'
import type { Registries } from '../../support/registries.ts'
import { waitFor } from '../../support/wait-for.ts'

export const emptyWorld = () => ({
  accounts: [] as number[],
  tenants: [] as number[],
  slugs: [] as string[],
  passwords: new Map<string, Set<string>>(),
  keys: [] as string[],
  keyIds: [] as number[],
  sids: [] as [account: number, sid: string][],
  stationSns: [] as string[],
  acceptedFromMs: Date.UTC(2020, 0, 1),
  count: 0,
})

export type World = ReturnType<typeof emptyWorld>

/** Draws a whole number below `below`. */
type Draw = (below: number) => number

type ChangeOf = (node: Registries, world: World, draw: Draw) => Promise<unknown>

const by = 'test'
const requester = { actor: by, accountId: undefined, mayReplace: () => true }
const client = { address: '127.0.0.1', network: '127.0.0.1', userAgent: undefined }
const metricNames = ['co2', 'wind_speed', 'sap_flow', 'level_a', 'level_b']
const catalogued = ['co2', 'eco2', 'wind_gust', 'soil_moisture']
const changesOfDevice = [
  { log_switch: false },
  { log_switch: true },
  { metrics: ['pm10'] },
  { metrics: null },
  { tags: ['room:r1', 'site:berlin'] },
  { tags: [] },
]
const changesOfAccount = [
  { role: 'user' },
  { role: 'administrator' },
  { role: 'operator' },
  { viewer: true },
  { viewer: false },
  { is_active: true },
  { is_active: false },
]

const pick = <Value>(values: readonly Value[], draw: Draw): Value | undefined => values[draw(values.length || 1)]
const nextName = (world: World, kind: string) => `${kind}-${world.count++}`

/** Changes one of the values that `find` returns, if any. */
function changeOf<Thing>(
  find: (node: Registries, world: World, draw: Draw) => Thing | undefined | Promise<Thing | undefined>,
  change: (node: Registries, thing: Thing, draw: Draw, world: World) => Promise<unknown>,
): ChangeOf {
  return async (node, world, draw) => {
    const thing = await find(node, world, draw)
    if (thing !== undefined) await change(node, thing, draw, world)
  }
}

const aDevice = ({ devices }: Registries, _world: World, draw: Draw) => pick(devices.all(), draw)
const aMetric = ({ metrics }: Registries, _world: World, draw: Draw) => pick(metrics.all(), draw)
const aSlug = (_node: Registries, { slugs }: World, draw: Draw) => pick(slugs, draw)
const anId = (_node: Registries, { accounts }: World, draw: Draw) => pick(accounts, draw)
const anAccount = (node: Registries, { accounts }: World, draw: Draw) => node.accounts.find(pick(accounts, draw) ?? 0)
const aStation = (node: Registries, world: World, draw: Draw) => node.stations.find(pick(world.stationSns, draw) ?? '')

function remember(world: World, name: string, password: string): void {
  world.passwords.set(name, (world.passwords.get(name) ?? new Set()).add(password))
}

async function addDevice(node: Registries, world: World, more: object): Promise<void> {
  const name = nextName(world, 'device')
  const added = await node.devices.add([NewDevice.parse({ name, ...more })], by)
  // The owner may have been deleted meanwhile.
  if (added.ok) remember(world, name, added.value[0]?.password ?? '')
}

export const registryChanges: Readonly<Record<string, ChangeOf>> = {
  'add a device': (node, world) => addDevice(node, world, {}),
  'add a device with an owner': (node, world, draw) =>
    addDevice(node, world, { owner: pick(world.accounts.slice(1), draw) ?? null }),
  'add a device with metrics of the catalogue': (node, world, draw) =>
    addDevice(node, world, { metrics: [pick(catalogued, draw)] }),
  'change a device': changeOf(aDevice, ({ devices }, { name }, draw) =>
    devices.change(name, pick<object>(changesOfDevice, draw) ?? {}, by),
  ),
  'rename a device': changeOf(aDevice, async ({ devices }, { name }, _draw, world) => {
    const to = nextName(world, 'renamed')
    const changed = await devices.change(name, { name: to }, by)
    if (changed.ok) world.passwords.set(to, world.passwords.get(name) ?? new Set())
  }),
  'give a device another owner': changeOf(aDevice, ({ devices }, { name }, draw, world) =>
    devices.change(name, { owner: pick([...world.accounts, null], draw) ?? null }, by),
  ),
  'rotate a password': changeOf(aDevice, async ({ devices }, { name }, draw, world) => {
    const rotated = await devices.rotate(name, draw(2) === 0, by)
    if (rotated.ok) remember(world, rotated.value.device, rotated.value.password)
  }),
  'remove a device': changeOf(aDevice, ({ devices }, { number }) => devices.remove(number, by)),
  'remove a device by its name': changeOf(aDevice, ({ devices }, { name }) =>
    devices.removeNamed(name, async () => 'done', by),
  ),
  'add a metric': ({ metrics }, _world, draw) =>
    metrics.add(NewMetric.parse({ name: pick(metricNames, draw), decimals: draw(3) }), by),
  'change a metric': changeOf(aMetric, ({ metrics }, { name }, draw) =>
    metrics.change(name, { color: `#00000${draw(10)}` }, by),
  ),
  'change a range': changeOf(aMetric, ({ metrics }, { name }, draw) =>
    metrics.change(name, { min: draw(5), max: 5 + draw(5) }, by),
  ),
  'remove a metric': changeOf(aMetric, ({ metrics }, { name }) => metrics.remove(name, by)),
  'first sight': changeOf(aDevice, ({ metrics }, { number, owner }, draw) =>
    metrics.ensure([{ device: number, field: pick(metricNames, draw) ?? '', owner }], by),
  ),
  'remove a series': changeOf(aDevice, async ({ metrics }, { number }, draw) => {
    const metric = pick(metrics.metricsOf(number), draw)
    if (metric !== undefined) await metrics.removeSeries(number, metric.name, async (_, series) => series)
  }),
  async 'add an account'(node, world) {
    const person = { name: null, image: null, passwordHash: null, isVerified: true, isViewer: false, tenant: null }
    const email = `${nextName(world, 'person')}@example.com`
    const role = world.accounts.length === 0 ? ('operator' as const) : ('user' as const)
    const id = await inNewTransaction(node.accounts, transaction =>
      insertAccount(transaction, { ...person, email, role, nowMs: Date.now() }),
    )
    world.accounts.push(id)
  },
  'change an account': changeOf(anId, ({ accounts }, id, draw) =>
    administerAccount(accounts, id, pick<object>(changesOfAccount, draw) ?? {}, requester),
  ),
  'change a profile': changeOf(anAccount, ({ accounts }, account, draw) =>
    changeProfile(accounts, account, { name: `n${draw(9)}` }),
  ),
  'change preferences': changeOf(anAccount, ({ accounts }, account) =>
    changePreferences(accounts, account, { temperature: 'Cel' } as never),
  ),
  'delete an account': changeOf(anAccount, async ({ accounts }, account, draw) => {
    if (draw(3) === 0) await deleteAccount(accounts, account)
  }),
  'start a session': changeOf(anAccount, async ({ sessions }, account, _draw, world) =>
    world.sids.push([account.id, (await sessions.start(account, client)).sid]),
  ),
  async 'revoke a session'(node, world, draw) {
    const [id = 0, sid = ''] = pick(world.sids, draw) ?? []
    const account = await node.accounts.find(id)
    if (account !== undefined) await node.sessions.revoke(account, sid)
  },
  'create a key': changeOf(anAccount, async ({ keys }, account, draw, world) => {
    const scopes = ['read', 'ingest'] as const
    const tags = draw(2) === 0 ? [] : ['site:berlin']
    const created = await keys.create(account, {
      name: 'k',
      scopes,
      createDevices: false,
      tags,
      expiresInDays: undefined,
    })
    if (!created.ok) return
    world.keys.push(created.value.text)
    world.keyIds.push(created.value.id)
  }),
  'revoke a key': changeOf(
    (_node, { keyIds }, draw) => pick(keyIds, draw),
    ({ keys }, id) => keys.revokeAny(id, by),
  ),
  async 'add a tenant'({ tenants }, world) {
    const slug = nextName(world, 'tenant')
    await tenants.add({ slug, name: slug }, by)
    world.slugs.push(slug)
    const found = await tenants.keysOf(slug)
    if (found !== undefined) world.tenants.push(found.id)
  },
  'switch a tenant': changeOf(aSlug, ({ tenants }, slug, draw) =>
    tenants.change(slug, { is_active: draw(2) === 0 }, by),
  ),
  'rotate the secret of a tenant': changeOf(aSlug, ({ tenants }, slug, draw) =>
    tenants.rotate(slug, draw(2) === 0, by),
  ),
  async 'add a station'({ stations }, world, draw) {
    const sn = nextName(world, 'S')
    world.stationSns.push(sn)
    await stations.add({ sn, model: 'M1', owner: pick([...world.accounts, null], draw) ?? null }, by)
  },
  'change a station': changeOf(aStation, ({ stations }, { id }, draw) =>
    stations.change(id, { private: draw(2) === 0 }, by),
  ),
  'remove a station': changeOf(aStation, async ({ stations }, station, draw) => {
    if (draw(2) === 0) await stations.remove(station, by)
  }),
  'note data of a station': changeOf(aStation, async ({ stations }, station) => {
    stations.noteData(station, Date.now())
    if (station.savedLastDataMs !== null) return
    await waitFor('it is saved', async () => (await stations.find(station.sn))?.savedLastDataMs !== null)
  }),
  async 'raise what is accepted'({ acceptedFrom }, world) {
    world.acceptedFromMs += 86_400_000
    await acceptedFrom.raise(world.acceptedFromMs)
  },
}
