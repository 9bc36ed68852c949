/** What two nodes of one service tell of themselves and of each other. */

import { hostname } from 'node:os'
import t from 'tap'
import { Status } from '../../api/admin/status-answer.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { barograph } from '../support/command-line.ts'
import { openCluster } from '../support/nodes.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const cluster = await openCluster(t)
const one = await cluster.start()
const other = await cluster.start()

const statusOf = async ({ admin }: Service) => Status.parse((await admin('GET', '/status')).body)
const run = ({ dataDirectory: DATA_DIR, url }: Service, words: string) =>
  barograph(words.split(' '), { environment: { DATA_DIR, PORT: new URL(url).port } })

const [first, second] = (await statusOf(other)).nodes ?? []

t.test('each node names both, itself, and what they have applied', async t => {
  t.match(second, { is_self: true, role: 'api', host: hostname(), lease_valid: true, problems: [] })
  t.match(first, { is_self: false, lease_valid: true })
  await one.addDevice('porch')
  const { nodes = [] } = await statusOf(one)
  t.strictSame(
    nodes.map(({ id, is_self }) => [id, is_self]),
    [
      [first?.id, true],
      [second?.id, false],
    ],
    'the oldest first',
  )
  await waitFor('both have applied the change', async () => {
    const applied = (await statusOf(one)).nodes?.map(({ applied_change }) => applied_change) ?? []
    return applied.length === 2 && applied[0] === applied[1] && (applied[0] ?? 0) > (second?.applied_change ?? 0)
  })
  await waitFor('one of them leads', async () => {
    const [byOne, byOther] = [await statusOf(one), await statusOf(other)].map(({ nodes = [] }) =>
      nodes.map(({ leads }) => leads),
    )
    return byOne?.filter(Boolean).length === 1 && byOne.join() === byOther?.join()
  })
  await waitFor('the clocks are compared', async () =>
    ((await statusOf(one)).nodes ?? []).every(({ clock_ahead_s: ahead }) => ahead !== null && Math.abs(ahead) < 1),
  )
})

t.test('the command line names them', async t => {
  const { stdout } = await run(one, 'status')
  const line = (id: string | undefined) => stdout.split('\n').find(text => text.startsWith(`node ${id} `))
  t.match(
    line(first?.id),
    new RegExp(`api on ${hostname()}, \\S+, asked, (?:leads, )?lease renewed \\d+\\.\\d s ago, change \\d+, clock `),
  )
  t.match(line(second?.id), new RegExp(`api on ${hostname()}, \\S+, (?:leads, )?lease renewed`))
  t.match((await run(one, 'doctor')).stdout, new RegExp(`ok +node ${second?.id} +api on`))
})

t.test('a list of rejected readings is of the node that answers, and no other one goes on with it', async t => {
  t.equal((await one.put('porch', 'wrong', {})).status, 401)
  const list = (node: Service, query = '') => node.admin('GET', `/rejections${query}`)
  t.match((await list(one)).body, { node: { id: first?.id, host: hostname() }, rejected: 1 })
  t.match((await list(other)).body, { node: { id: second?.id }, rejected: 0, rejections: [] })
  t.match(await list(one, `?node=${first?.id}`), { status: 200 })
  t.match(await list(other, `?node=${first?.id}`), {
    status: 409,
    body: {
      detail: `node ${second?.id} answers, which does not have the list of node ${first?.id}: begin at the first page, or ask that one`,
    },
  })
  t.match((await run(one, 'rejections')).stdout, `at node ${first?.id} on ${hostname()}\n`)
})

t.test('a node that has ended without a word is a problem, and one that has stopped is gone', async t => {
  await other.end('SIGKILL')
  await waitFor('its lease is over', async () => (await statusOf(one)).nodes?.[1]?.lease_valid === false)
  const [, gone] = (await statusOf(one)).nodes ?? []
  t.match(gone, { id: second?.id, leads: false, problems: [/its lease has expired/] })
  t.match((await run(one, 'status')).stdout, new RegExp(`problem +node ${second?.id}: its lease has expired`))
  t.match((await run(one, 'doctor')).stdout, new RegExp(`problem +node ${second?.id} +.*expired, change`))
  const third = await cluster.start()
  t.equal((await statusOf(third)).nodes?.length, 3)
  await third.end('SIGTERM')
  t.equal((await statusOf(one)).nodes?.length, 2)
})

t.test('without PostgreSQL a node tells of itself alone', async t => {
  const proxy = await startTcpProxy(t, cluster.postgres.port, createRandom(1))
  const far = await cluster.start({ DATABASE_URL: cluster.postgres.url.replace(/:\d+\//, `:${proxy.port}/`) })
  t.equal((await statusOf(far)).nodes?.length, 3, 'with the one that has ended without a word')
  proxy.trouble.silent = true
  proxy.cut()
  await waitFor('its lease is over', async () => (await statusOf(far)).nodes?.[0]?.lease_valid === false)
  await waitFor('it tells of itself alone', async () => (await statusOf(far)).nodes?.length === 1)
  const { nodes } = await statusOf(far)
  t.match(nodes, [{ is_self: true, host: hostname(), problems: [/PostgreSQL does not answer it/] }])
  await waitFor('PostgreSQL is away', async () => (await statusOf(far)).postgres.state === 'away')
  proxy.calm()
})
