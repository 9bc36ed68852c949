/** Rules by HTTP: of whom they are, what is refused, and how a file of them is imported. */

import t from 'tap'
import type { Alerts } from '../../../alerts/alerts.ts'
import { type AlertStore, createAlertStore } from '../../support/alert-store.ts'
import { startAlertsApi } from '../../support/alerts-api.ts'

let alerts: AlertStore | undefined
/** Those that a test has made; what else they have is not looked at here. */
const channels: { id: number; owner: number | null; name: string; kind: string; settings: object }[] = []

/** By the names of the devices that there are. */
const owners = new Map<string, number | null>([['cellar', null]])
const coverageOf = (rule: number) => (rule === 1 ? { covered: 7, isWhole: false } : undefined)

const { people, store, ask } = await startAlertsApi(t, async ({ postgres }) => {
  alerts = await createAlertStore(postgres)
  const list = { list: async () => channels } as never
  return {
    alerts: { ...alerts, channels: list, coverageOf, ...({} as Pick<Alerts, 'deliveries' | 'preview'>) },
    numberOf: () => undefined,
    deviceOf: name => (owners.has(name) ? { name, tags: ['site:berlin'], owner: owners.get(name) ?? null } : undefined),
    timeZone: 'UTC',
    nowMs: Date.now,
  }
})
const path = '/api/alert-rules'

async function personOf(email: string, role = 'user') {
  const id = await people.person(email)
  const set = 'UPDATE accounts SET role = $2 WHERE id = $1'
  await people.accounts.memory.change(id, () => store.postgres.query(set, [id, role]))
  return { id, headers: { cookie: (await people.cookieOf(id)).cookie, origin: 'https://app.example' } }
}

const ada = await personOf('ada@example.com')
const bob = await personOf('bob@example.com')
const admin = await personOf('admin@example.com', 'administrator')
const operator = await personOf('operator@example.com', 'operator')

const condition = { kind: 'above', metric: 'temperature', value: 30 }
const warm = { name: 'warm', selector: { all: true }, condition }
const idOf = ({ body }: { body: unknown }) => (body as { id: number }).id

async function channelOf(owner: number | null, name: string): Promise<number> {
  const id = await alerts?.addChannel(name, owner ?? undefined)
  if (id === undefined) throw new Error('there is no channel')
  channels.push({ id, owner, name, kind: 'webhook', settings: {} })
  return id
}

t.test('a rule is added, read, changed and removed by whom it belongs to', async t => {
  const added = await ask('POST', path, warm, ada.headers)
  const id = idOf(added)
  t.match(added, { status: 201, headers: { location: `${path}/${id}` } })
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
  t.strictSame((await ask('GET', `${path}/${id}`, undefined, ada.headers)).body, added.body)
  t.match(await ask('PATCH', `${path}/${id}`, { note: 'open a window' }, ada.headers), {
    status: 200,
    body: { ...rule, note: 'open a window' },
  })
  t.match(await ask('PATCH', `${path}/${id}`, { for_seconds: 60 }, ada.headers), {
    body: { for_seconds: 60, version: 2 },
  })
  t.match(await ask('PATCH', `${path}/${id}`, {}, ada.headers), { status: 422 })
  t.match(await ask('DELETE', `${path}/${id}`, undefined, ada.headers), { status: 204 })
  t.match(await ask('GET', `${path}/${id}`, undefined, ada.headers), { status: 404, body: { title: 'rule unknown' } })
})

t.test('a rule of somebody else is one that is not there; administrators see all', async t => {
  const id = idOf(await ask('POST', path, { ...warm, name: 'of ada' }, ada.headers))
  const ofService = idOf(await ask('POST', path, { ...warm, name: 'of the service' }))
  for (const [method, body] of [['GET'], ['PATCH', { note: 'x' }], ['DELETE']] as const) {
    t.match(await ask(method, `${path}/${id}`, body, bob.headers), { status: 404 }, method)
    t.match(await ask(method, `${path}/${ofService}`, body, ada.headers), { status: 404 }, method)
  }
  const namesFor = async (headers?: Record<string, string>) => {
    const { rules } = (await ask('GET', path, undefined, headers)).body as { rules: { name: string }[] }
    return rules.map(({ name }) => name)
  }
  t.strictSame(await namesFor(bob.headers), [])
  t.strictSame(await namesFor(ada.headers), ['of ada'])
  t.strictSame(await namesFor(admin.headers), ['of ada', 'of the service'])
  t.strictSame(await namesFor(), ['of ada', 'of the service'])
  t.match(await ask('PATCH', `${path}/${id}`, { note: 'seen' }, admin.headers), {
    body: { note: 'seen', owner: ada.id },
  })
  t.match(await ask('GET', `${path}?limit=1`), { body: { rules: [{ id }], next: id } })
  t.match(await ask('GET', `${path}?limit=1&after=${id}`), { body: { rules: [{ id: ofService }], next: ofService } })
  t.match(await ask('GET', `${path}?limit=1&after=${ofService}`), { body: { rules: [], next: null } })
})

t.test('what a rule cannot be is refused, with the place', async t => {
  const refused = async (rule: object, status: number, errors: unknown) => {
    t.match(
      await ask('POST', path, rule, ada.headers),
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
  t.match(await ask('POST', path, { ...warm, channels: [999] }, ada.headers), {
    status: 422,
    body: { title: 'channels unknown' },
  })
  const ofBob = await channelOf(bob.id, 'phone of bob')
  t.match(
    await ask('POST', path, { ...warm, channels: [ofBob] }, ada.headers),
    { status: 422 },
    'nobody rings for another',
  )
  const id = idOf(await ask('POST', path, { ...warm, name: 'taken' }, ada.headers))
  t.match(await ask('POST', path, { ...warm, name: 'taken' }, ada.headers), {
    status: 409,
    body: { title: 'name taken' },
  })
  t.match(await ask('POST', path, { ...warm, name: 'taken' }, bob.headers), { status: 201 }, 'a name is one owner’s')
  t.match(await ask('PATCH', `${path}/${id}`, { selector: null }, ada.headers), {
    status: 422,
    body: { errors: [{ path: 'selector' }] },
  })
})

t.test('what the service says of itself is for the operator and whoever has the machine', async t => {
  const disk = { name: 'disk', condition: { kind: 'service', fact: 'disk_full', days: 7 } }
  for (const { headers } of [ada, admin]) {
    t.match(await ask('POST', path, disk, headers), { status: 403, body: { title: 'operator only' } })
    t.match(await ask('POST', `${path}/preview`, { rule: disk }, headers), { status: 403 })
    t.match(await ask('POST', `${path}/import`, { rules: [disk] }, headers), { status: 403 })
  }
  const id = idOf(await ask('POST', path, disk, operator.headers))
  t.match(await ask('POST', path, disk), { status: 201 })
  t.match(await ask('PATCH', `${path}/${id}`, { note: 'x' }, admin.headers), { status: 403 })
  t.match(await ask('DELETE', `${path}/${id}`, undefined, admin.headers), { status: 403 })
  t.match(await ask('DELETE', `${path}/${id}`, undefined, operator.headers), { status: 204 })
})

t.test('a file of rules gives the same rules, and the same file again changes nothing', async t => {
  const phone = await channelOf(ada.id, 'phone')
  const frost = {
    ...warm,
    name: 'frost',
    condition: { kind: 'below', metric: 'temperature', value: 2 },
    channels: [phone],
  }
  await ask('POST', path, frost, ada.headers)
  await ask('POST', path, { ...warm, name: 'a quiet one', enabled: false, note: 'later' }, ada.headers)
  const file = (await ask('GET', `${path}/export`, undefined, ada.headers)).body as { rules: { name: string }[] }
  t.strictSame(
    file.rules.map(({ name }) => name),
    ['a quiet one', 'frost', 'of ada', 'taken'],
  )
  t.match(file, { channels: [{ name: 'phone', kind: 'webhook', settings: {} }] })
  t.notMatch(JSON.stringify(file), /"id"|"owner"|created_at/)
  const imports = async (given: object, query = '', headers: Record<string, string> = ada.headers) =>
    (await ask('POST', `${path}/import${query}`, given, headers)).body
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
  t.match((await ask('GET', `${path}/export`, undefined, bob.headers)).body, file)
})

t.test('a file is imported as a whole or not at all', async t => {
  const before = (await ask('GET', `${path}/export`, undefined, ada.headers)).body
  const rules = [
    { ...warm, name: 'one more' },
    { ...warm, name: 'broken', selector: undefined },
  ]
  t.match(await ask('POST', `${path}/import?prune=1`, { rules }, ada.headers), {
    status: 422,
    body: { errors: [{ path: 'rules[1].selector' }] },
  })
  t.match(await ask('POST', `${path}/import`, { rules: [warm, warm] }, ada.headers), {
    status: 422,
    body: { errors: [{ path: 'rules' }] },
  })
  const many = Array.from({ length: 1001 }, (_, at) => ({ ...warm, name: `r${at}` }))
  t.match(await ask('POST', `${path}/import`, { rules: many }, ada.headers), { status: 422 })
  t.match(await ask('POST', `${path}/import`, { rules: many.slice(0, 998) }, ada.headers), {
    status: 409,
    body: { title: 'too many rules' },
  })
  t.strictSame((await ask('GET', `${path}/export`, undefined, ada.headers)).body, before)
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
    await ask('POST', path, { name, selector, condition }, eve.headers)
  }
  const namesOf = async (query: string, headers = eve.headers) => {
    const { body } = await ask('GET', `${path}?${query}`, undefined, headers)
    return (body as { rules: { name: string }[] }).rules.map(({ name }) => name)
  }
  t.strictSame(await namesOf('device=porch'), ['all', 'tagged', 'named'])
  t.strictSame(await namesOf('device=porch&limit=2'), ['all', 'tagged'])
  t.strictSame(await namesOf('device=nowhere'), [])
  t.strictSame(await namesOf('device=cellar'), [], 'a device of somebody else is as one that is not there')
  t.match(await namesOf('device=cellar&limit=1000', admin.headers), ['of ada'])
  t.strictSame(await namesOf(''), Object.keys(selectors))
})
