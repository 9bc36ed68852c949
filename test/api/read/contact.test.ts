/** The contact of a silent device: its neighbours, and its rejected readings and failed sign-ins for permitted readers. */

import t from 'tap'
import { contactGroup } from '../../../api/read/contact.ts'
import type { DeviceContact } from '../../../api/read/shapes.ts'
import { createRejections } from '../../../ingest/rejections/rejections.ts'
import { liveStates } from '../../../query/live/live-state.ts'
import { unknownSender } from '../../../store/limits/networks.ts'
import { openReadsOf } from '../../support/open-reads.ts'
import { serveGroups } from '../serve-groups.ts'

const [berlin, shelf] = ['site:berlin', 'shelf:1']
const states = ['silent', 'silent', 'late', 'fresh', 'off', 'never'] as const
const tagsOf = [[berlin, shelf], [berlin], [berlin, shelf], [], [berlin, shelf], [berlin, 'shelf:2']]
const names = ['porch', 'attic', 'barn', 'cellar', 'old', 'new']
const devices = names.map((name, number) => {
  return { name, number, tags: tagsOf[number] ?? [], owner: number === 0 ? 1 : 2, log_switch: true }
})

const account = { role: 'user', isViewer: false, tenantId: null, emailVerifiedMs: 1 }
const principals: Record<string, object> = {
  owner: { kind: 'session', account: { ...account, id: 1 } },
  'owner, whose address is not confirmed': { kind: 'session', account: { ...account, id: 1, emailVerifiedMs: null } },
  viewer: { kind: 'session', account: { ...account, id: 3, isViewer: true } },
  administrator: { kind: 'session', account: { ...account, id: 4, role: 'administrator' } },
  'key to write': { kind: 'key', scopes: ['ingest'], account: { ...account, id: 1 } },
  'key to read': { kind: 'key', scopes: ['read'], account: { ...account, id: 1 } },
  'view link': { kind: 'view-link', owner: { ...account, id: 1 } },
  'admin token': { kind: 'admin-token' },
}

let nowMs = Date.UTC(2026, 4, 4)
const rejections = createRejections({ nowMs: () => nowMs, senderLog: () => undefined })
const own = { way: 'mqtt', sender: { name: 'device porch', isKnown: true }, device: 'porch' } as const
for (const reason of ['temperature is wet', 'temperature is wet']) rejections.add({ ...own, reason })
rejections.add({ ...own, reason: 'x is not a metric', part: 'field' })
rejections.add({ ...own, sender: { name: 'device attic', isKnown: true }, reason: 'of another device' })
rejections.add({ ...own, device: 'attic', reason: 'the credential belongs to another device' })
nowMs += 1000
rejections.add({ way: 'put', sender: unknownSender('192.0.2.7'), device: 'porch', reason: 'unauthorized' })

let isLoaded = true
const live = {
  isLoaded: () => isLoaded,
  stateOf: (number: number) => states[number],
  counts(of: readonly { number: number }[] = devices) {
    const counts = liveStates.map(state => [state, of.filter(({ number }) => states[number] === state).length])
    return Object.fromEntries(counts)
  },
}
const findPrincipal = async ({ headers }: { headers: object }) =>
  principals[(headers as Record<string, string>)['x-who'] ?? ''] as never
const { url } = await serveGroups(t, contactGroup(openReadsOf(devices), { rejections, live, findPrincipal }))

async function contactOf(name: string, who = '') {
  const response = await fetch(`${url}/device/${name}/contact`, { headers: { 'x-who': who } })
  const body = (await response.json()) as DeviceContact
  return { status: response.status, cache: response.headers.get('cache-control'), body }
}

t.test('neighbours are the devices with the rarest shared tag, or all', async t => {
  const neighboursOf = async (name: string) => (await contactOf(name)).body.neighbours
  t.strictSame(await neighboursOf('porch'), { tag: shelf, silent: 0, reporting: 1 }, 'one is off')
  t.strictSame(await neighboursOf('barn'), { tag: shelf, silent: 1, reporting: 0 })
  t.strictSame(await neighboursOf('new'), { tag: berlin, silent: 2, reporting: 1 }, 'a tag of one device')
  t.strictSame(await neighboursOf('cellar'), { tag: null, silent: 2, reporting: 1 }, 'no tag')
  isLoaded = false
  t.equal(await neighboursOf('porch'), null, 'states are unknown')
  isLoaded = true
  t.match(await contactOf('garage'), { status: 404 })
})

t.test('only the owner and administrators see rejected readings and addresses', async t => {
  const at = new Date(nowMs - 1000).toISOString()
  const rejected = { at, first_at: at, way: 'mqtt', sender: 'device porch', reason: 'temperature is wet', count: 2 }
  const failed = { at: new Date(nowMs).toISOString(), first_at: new Date(nowMs).toISOString() }
  const attempts = {
    since: at,
    rejected: [rejected],
    failed_sign_ins: [{ ...failed, way: 'put', sender: 'address 192.0.2.7', reason: 'unauthorized', count: 1 }],
  }
  for (const who of ['owner', 'administrator', 'key to read', 'admin token']) {
    const { body, cache } = await contactOf('porch', who)
    t.strictSame([body.attempts, cache], [attempts, 'private, no-cache'], who)
  }
  const others = ['', 'viewer', 'owner, whose address is not confirmed', 'key to write', 'view link']
  for (const who of others) t.equal((await contactOf('porch', who)).body.attempts, null, who)
  t.equal((await contactOf('attic', 'owner')).body.attempts, null, 'a device of another account')
})
