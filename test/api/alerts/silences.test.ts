/** Silences by HTTP, against a real PostgreSQL. */

import t from 'tap'
import { bounds } from '../../../alerts/core/bounds.ts'
import { createAlertSilences } from '../../../alerts/outbox/silence-rows.ts'
import { writeAudit } from '../../../auth/audit.ts'
import { noFeed } from '../../../auth/nodes/change-feed.ts'
import { waits } from '../../support/alert-store.ts'
import { startAlertsApi } from '../../support/alerts-api.ts'

const nowMs = () => Date.parse('2026-05-04T12:00:00Z')

const { people, store, ask } = await startAlertsApi(t, ({ postgres: pool }) => {
  const clock = { nowMs, offsetMs: () => 0 }
  const silences = createAlertSilences({
    pool,
    feed: noFeed,
    waits,
    audit: writeAudit,
    wake: () => undefined,
    ...clock,
  })
  return { alerts: { silences } } as never
})
const path = '/api/silences'
const until = '2026-05-04T14:00:00Z'

async function personOf(email: string): Promise<{ id: number; headers: Record<string, string> }> {
  const id = await people.person(email)
  const { cookie } = await people.cookieOf(id)
  return { id, headers: { cookie, origin: 'https://app.example' } }
}

t.test('a silence is made, shown and ended', async t => {
  const body = { selector: { tags: ['site:berlin'] }, until: '2026-05-04T16:00:00+02:00', reason: 'works' }
  const made = await ask('POST', path, body)
  const { id } = made.body as { id: number }
  t.match(made, { status: 201, headers: { location: `${path}/${id}` } })
  const shown = {
    ...{
      id,
      selector: body.selector,
      rule_id: null,
      from: '2026-05-04T12:00:00.000Z',
      until: '2026-05-04T14:00:00.000Z',
    },
    ...{ weekly: null, reason: 'works', created_by: 'local admin token', is_active: true },
    created_at: '2026-05-04T12:00:00.000Z',
  }
  t.strictSame(made.body, shown)
  t.strictSame((await ask('GET', `${path}/${id}`)).body, shown)
  t.strictSame((await ask('GET', path)).body, { silences: [shown], next: null })
  t.equal((await ask('DELETE', `${path}/${id}`)).status, 204)
  for (const method of ['GET', 'DELETE'])
    t.match(await ask(method, `${path}/${id}`), { status: 404, body: { title: 'silence unknown' } })
  t.strictSame((await ask('GET', path)).body, { silences: [], next: null })
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
  const made = async (from: string) => (await ask('POST', path, { selector: { all: true }, weekly: weekly(from) })).body
  t.match([await made('12:00'), await made('12:01')], [{ until: null, is_active: true }, { is_active: false }])
})

t.test('what is none is refused', async t => {
  const faults: [object, RegExp][] = [
    [{ selector: { all: true } }, /weekly windows/],
    [{ selector: {}, until }, /devices, tags or all/],
    [{ selector: { all: true }, until: '2026-05-04' }, /./],
    [{ selector: { all: true }, until, reason: 'a\nb' }, /control characters/],
    [{ selector: { all: true }, until, owner: 1 }, /./],
  ]
  for (const [body, message] of faults) {
    const answer = await ask('POST', path, body)
    t.equal(answer.status, 422, JSON.stringify(body))
    t.match(JSON.stringify(answer.body), message)
  }
  const unknown = await ask('POST', path, { selector: { all: true }, until, rule_id: 12 })
  t.match(unknown, { status: 404, body: { title: 'rule unknown' } })
})

t.test('people see and end their own; there are as many as there may be', async t => {
  const ada = await personOf('ada@example.com')
  const bob = await personOf('bob@example.com')
  const made = await ask('POST', path, { selector: { all: true }, until }, ada.headers)
  t.match(made, { status: 201, body: { created_by: `account ${ada.id}` } })
  const { id } = made.body as { id: number }
  t.strictSame((await ask('GET', path, undefined, bob.headers)).body, { silences: [], next: null })
  for (const method of ['GET', 'DELETE'])
    t.equal((await ask(method, `${path}/${id}`, undefined, bob.headers)).status, 404)
  t.match((await ask('GET', `${path}?limit=1`)).body, { silences: [{ id }], next: id }, 'administrators see all')
  await store.postgres.query(
    `INSERT INTO alert_silences (owner, selector, from_at, until_at, reason, created_by, created_at)
     SELECT $1, '{"all":true}', now(), $2, '', '', now() FROM generate_series(1, $3)`,
    [ada.id, until, bounds.silencesPerOwner - 1],
  )
  const full = await ask('POST', path, { selector: { all: true }, until }, ada.headers)
  t.match(full, { status: 409, body: { title: 'too many silences' } })
  t.equal((await ask('POST', path, { selector: { all: true }, until }, bob.headers)).status, 201)
})
