/** Custom decoders by the admin API: stored, changed and tried. */

import t from 'tap'
import { at, invalidBody, problem, startAdmin } from '../../support/admin.ts'

const admin = await startAdmin(t)
const declaration = {
  topics: ['garden/{device}'],
  device: ['{device}'],
  fields: [{ path: 't', metric: 'temperature', unit: '°F' }],
}
const garden = { name: 'garden', ...declaration }
const unknown = problem(404, 'decoder unknown')

t.test('a decoder is added, changed and removed, each with an audit entry', async t => {
  const fixed = { device: ['shed'] }
  await admin.answers(
    t,
    ['GET', '/decoders', undefined, { status: 200, body: { decoders: [], total: 0, next: null } }],
    ['POST', '/decoders', garden, { status: 201, body: garden, headers: { location: '/api/admin/decoders/garden' } }],
    ['POST', '/decoders', garden, problem(409, 'name taken', at('name'))],
    ['POST', '/decoders', { ...garden, name: 'tasmota' }, problem(409, 'name taken', at('name'))],
    ['POST', '/decoders', { ...garden, name: 'a b' }, invalidBody('name')],
    [
      'POST',
      '/decoders',
      { ...garden, fields: [{ path: 't', metric: 'temperature', unit: 'hPa' }] },
      invalidBody('fields[0].unit'),
    ],
    ['GET', '/decoders/garden', undefined, { status: 200, body: garden }],
    ['PATCH', '/decoders/garden', fixed, { status: 200, body: { name: 'garden', ...fixed } }],
    ['GET', '/decoders', undefined, { body: { decoders: [fixed], total: 1 } }],
    ['PATCH', '/decoders/shed', fixed, unknown],
    ['DELETE', '/decoders/garden', undefined, { status: 204 }],
    ['DELETE', '/decoders/garden', undefined, unknown],
    ['GET', '/decoders/garden', undefined, unknown],
  )
  const { body } = await admin.ask('GET', '/audit')
  const entries = (body as { entries: { action: string; subject: string }[] }).entries
  const actions = ['decoder.remove', 'decoder.change', 'decoder.add']
  t.match(
    entries.slice(0, 3),
    actions.map(action => ({ action, subject: 'decoder garden' })),
  )
})

t.test('at most 100 decoders exist', async t => {
  await admin.store.postgres.query(
    'INSERT INTO decoders SELECT \'d\' || n, \'{"device":["a"]}\', now() FROM generate_series(1, 100) AS n',
  )
  await admin.answers(t, ['POST', '/decoders', garden, problem(409, 'too many decoders')])
  await admin.store.postgres.query('DELETE FROM decoders')
})

t.test('a decoder is tried on the listed recent messages', async t => {
  admin.recent.add('mqtt', 'garden/bed', { body: { t: 50, token: 'x' } }, 20)
  admin.recent.add('webhook', 'shed', { body: { t: 51 } }, 20)
  const places = [
    { way: 'webhook', place: 'shed', count: 1 },
    { way: 'mqtt', place: 'garden/bed', count: 1 },
  ]
  const text = '{"t":50,"token":"***"}'
  const values = [{ metric: 'temperature', value: 10 }]
  await admin.answers(
    t,
    ['GET', '/decoders/messages', undefined, { status: 200, body: { places, messages: [] } }],
    ['GET', '/decoders/messages?topic=garden/%23', undefined, { body: { messages: [{ place: 'garden/bed', text }] } }],
    ['GET', '/decoders/messages?webhook=shed', undefined, { body: { messages: [{ place: 'shed' }] } }],
    ['GET', '/decoders/messages?topic=a%23', undefined, problem(400, 'invalid query', at('topic'))],
    [
      'POST',
      '/decoders/try',
      declaration,
      { status: 200, body: { messages: [{ text, readings: [{ device: 'bed', at: null, values }] }] } },
    ],
    ['POST', '/decoders/try', { ...declaration, device: ['{x}'] }, invalidBody('device[0]')],
  )
})
