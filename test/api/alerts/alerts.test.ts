/** Alerts by HTTP: who sees which, filters, pages, and what an acknowledgement does. */

import t from 'tap'
import type { Alerts } from '../../../alerts/alerts.ts'
import { type AlertStore, createAlertStore, effects, startMs } from '../../support/alert-store.ts'
import { startAlertsApi } from '../../support/alerts-api.ts'

let made: AlertStore | undefined
const numbers = new Map([
  ['d1', 1],
  ['d2', 2],
])
const { people, ask, app } = await startAlertsApi(t, async ({ postgres }) => {
  made = await createAlertStore(postgres, device => (device === 1 ? ['site:berlin'] : []))
  return {
    alerts: { ...made, ...({} as Pick<Alerts, 'channels' | 'coverageOf' | 'deliveries' | 'preview'>) },
    numberOf: name => numbers.get(name),
    deviceOf: () => undefined,
    timeZone: 'Europe/Berlin',
    nowMs: Date.now,
  }
})
if (made === undefined) throw new Error('there is no store')
const store = made

const ada = await people.person('ada@example.com')
const bob = await people.person('bob@example.com')
const headersOf = async (id: number) => ({ cookie: (await people.cookieOf(id)).cookie, origin: 'https://app.example' })
const [ofAda, ofBob] = [await headersOf(ada), await headersOf(bob)]
const path = '/api/alerts'

const rule = await store.addRule(
  { name: 'warm', severity: 'critical', note: 'open a window' },
  { all: false, account: ada },
)
const ofService = await store.addRule({ name: 'of the service' })
await store.apply(
  { ...store.transition(rule.id, 1, effects.opened(startMs), effects.fired(startMs)), severity: 'critical' },
  { ...store.transition(rule.id, 2, effects.opened(startMs + 1)), severity: 'critical' },
  store.transition(
    ofService.id,
    2,
    effects.opened(startMs + 2),
    effects.fired(startMs + 2),
    effects.resolved(startMs + 3),
  ),
)

type Listed = {
  alerts: { id: string; device: string; rule: string; state: string }[]
  next: string | null
  time_zone: string
}
async function list(query = '', headers?: Record<string, string>): Promise<string[]> {
  const { status, body } = await ask('GET', `${path}${query}`, undefined, headers)
  t.equal(status, 200, query)
  return (body as Listed).alerts.map(({ device, rule, state }) => `${rule} ${device} ${state}`)
}

t.test('people see alerts of their own rules, administrators all, newest first', async t => {
  t.strictSame(await list('', ofAda), ['warm d2 pending', 'warm d1 firing'])
  t.strictSame(await list('', ofBob), [])
  t.strictSame(await list(), ['of the service d2 resolved', 'warm d2 pending', 'warm d1 firing'])
  const { body } = await ask('GET', `${path}?state=firing`, undefined, ofAda)
  t.match(body, {
    next: null,
    time_zone: 'Europe/Berlin',
    alerts: [{ severity: 'critical', note: 'open a window', value: 31 }],
  })
  t.notMatch(JSON.stringify(body), /"owner"|device_number/)
})

t.test('the list is narrowed, and comes in pages', async t => {
  t.strictSame(await list('?state=firing,resolved'), ['of the service d2 resolved', 'warm d1 firing'])
  t.strictSame(await list('?severity=critical&device=d2'), ['warm d2 pending'])
  t.strictSame(await list('?device=nobody'), [])
  t.strictSame(await list(`?rule=${ofService.id}`), ['of the service d2 resolved'])
  t.strictSame(await list(`?since=${encodeURIComponent('2026-05-04T14:00:01+02:00')}`), [
    'warm d2 pending',
    'warm d1 firing',
  ])
  const first = (await ask('GET', `${path}?limit=2`)).body as Listed
  t.equal(first.alerts.length, 2)
  t.equal(first.next, first.alerts[1]?.id)
  t.strictSame(await list(`?limit=2&after=${first.next}`), ['warm d1 firing'])
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
    t.match(await ask('GET', `${path}?${query}`), { status: 400, body: { title: 'invalid query' } }, query)
  }
})

t.test('the devices on which alerts fire are counted by their tags', async t => {
  const groups = async (query: string, headers?: Record<string, string>) =>
    (await ask('GET', `${path}/groups?${query}`, undefined, headers)).body
  const firing = { key: 'site', groups: [{ tag: 'site:berlin', devices: 1 }], others: 0, untagged: 0 }
  t.strictSame(await groups('key=site'), firing)
  t.strictSame(await groups('key=site&tag=site:berlin', ofAda), firing)
  t.strictSame(await groups('key=site&tag=site:bonn', ofAda), { ...firing, groups: [] })
  t.strictSame(await groups('key=room', ofAda), { key: 'room', groups: [], others: 0, untagged: 1 })
  t.strictSame(await groups('key=site', ofBob), { ...firing, groups: [] })
  for (const query of ['', 'key=', 'key=Site', 'key=site&tag=berlin', 'key=site&state=firing']) {
    t.match(await ask('GET', `${path}/groups?${query}`), { status: 400, body: { title: 'invalid query' } }, query)
  }
})

t.test('a client that has the list already is told so', async t => {
  const first = await app.inject({ url: path, headers: ofAda })
  const { etag } = first.headers
  t.match(first.headers, { etag: /^W\//, 'cache-control': 'private, no-cache' })
  const again = await app.inject({ url: path, headers: { ...ofAda, 'if-none-match': String(etag) } })
  t.match(again, { statusCode: 304, body: '' })
  const other = await app.inject({ url: path, headers: { ...ofBob, 'if-none-match': String(etag) } })
  t.equal(other.statusCode, 200)
})

t.test(
  'an alert is shown with its history and acknowledged once; that of somebody else is one that is not there',
  async t => {
    const { alerts } = (await ask('GET', `${path}?state=firing`)).body as Listed
    const one = `${path}/${alerts[0]?.id}`
    t.match(await ask('GET', one, undefined, ofAda), {
      status: 200,
      body: { rule: 'warm', acknowledged_at: null, events: [{ kind: 'pending' }, { kind: 'firing' }] },
    })
    t.match(await ask('GET', one, undefined, ofBob), { status: 404, body: { title: 'alert unknown' } })
    t.match(await ask('POST', `${one}/acknowledge`, undefined, ofBob), { status: 404 })
    const acknowledged = { acknowledged_by: `account ${ada}`, acknowledged_at: String }
    t.match(await ask('POST', `${one}/acknowledge`, undefined, ofAda), { status: 200, body: acknowledged })
    t.match(await ask('POST', `${one}/acknowledge`), { status: 200, body: acknowledged })
    t.match((await ask('GET', one)).body, { events: [{}, {}, { kind: 'acknowledged' }] })
    const ended = (await ask('GET', `${path}?state=resolved`)).body as Listed
    t.match(await ask('POST', `${path}/${ended.alerts[0]?.id}/acknowledge`), {
      status: 409,
      body: { title: 'alert resolved' },
    })
    for (const id of ['0', 'x', '99999999999999999999', '123456']) {
      t.match(await ask('GET', `${path}/${id}`), { status: 404, body: { title: 'alert unknown' } }, id)
    }
  },
)
