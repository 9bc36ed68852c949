/**
 * Model: three nodes, each killed and frozen at random, for longer than a lease, while credentials are used and revoked at any of
 * them. A request that is sent after the revocation was answered is let in by none.
 */

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRandom } from '../faults/seeded-random.ts'
import { freezeProcess } from '../support/frozen.ts'
import { openCluster } from '../support/nodes.ts'
import { makePerson, type Person } from '../support/people.ts'
import { basic, type Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const seconds = Number(process.env['SECONDS'] ?? 20)
const random = createRandom(seed)
/** Short, so that many of them end. */
const leaseSeconds = 2
const cluster = await openCluster(t, { environment: { NODE_LEASE_SECONDS: String(leaseSeconds) } })
const nodes = await Promise.all([cluster.start(), cluster.start(), cluster.start()])
/** Of nodes that are killed or frozen. */
const troubled = new Set<number>()
const found = { accepted: 0, afterwards: 0, refused: 0, revoked: 0, killed: 0, frozen: 0 }

function nodeAt(at: number): Service {
  const node = nodes[at]
  if (node === undefined) throw new Error('there is no such node')
  return node
}

/** One that answers. */
const steady = () => nodeAt([0, 1, 2].find(at => !troubled.has(at)) ?? 0)

/** A credential is let in until its revocation was answered. */
interface Revocable {
  path: string
  init: RequestInit
  revocation: readonly [method: string, path: string, body?: object]
  isRevoked: boolean
}

const answerMsMax = 10_000
let count = 0

/** A device, an API key or an account. */
async function makeRevocable(node: Service, owner: Person): Promise<Revocable> {
  const kind = random.pick(['device', 'key', 'account'])
  if (kind === 'device') {
    const name = `d${count++}`
    const headers = { authorization: basic(name, await node.addDevice(name)), 'content-type': 'application/json' }
    const body = JSON.stringify({ device: name, temperature: 20, humidity: 50, pressure: 1000 })
    const rotate = ['POST', `/devices/${name}/rotate?now=1`] as const
    const revocation = random.chance(0.5) ? rotate : (['DELETE', `/devices/${name}`] as const)
    return { path: '/api/log', init: { method: 'PUT', headers, body }, revocation, isRevoked: false }
  }
  if (kind === 'key') {
    const { body } = await node.admin('POST', '/keys', { account: owner.id, name: 'k', scopes: ['read'] })
    const { id, key } = body as { id: number; key: string }
    const init = { headers: { 'x-api-key': key } }
    // There is no such device, which a reader is told by 404.
    return { path: '/api/device/nobody', init, revocation: ['DELETE', `/keys/${id}`], isRevoked: false }
  }
  const { id, bearer } = await makePerson(node)
  const init = { headers: { authorization: `Bearer ${await bearer()}` } }
  return { path: '/v1/auth/me', init, revocation: ['PATCH', `/accounts/${id}`, { is_active: false }], isRevoked: false }
}

async function statusOf(url: string, init: RequestInit): Promise<number> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(answerMsMax) })
  await response.arrayBuffer()
  return response.status
}

async function use(credential: Revocable, at: number): Promise<void> {
  const { isRevoked } = credential
  // One that was killed or is frozen gives no answer.
  const status = await statusOf(`${nodeAt(at).url}${credential.path}`, credential.init).catch(() => 0)
  if (status === 0) await sleep(20)
  else if (status !== 200 && status !== 404) found.refused++
  else if (isRevoked) found.afterwards++
  else found.accepted++
}

async function revoke(credential: Revocable): Promise<void> {
  const { admin } = nodeAt(random.below(3))
  const status = await admin(...credential.revocation).then(
    answer => answer.status,
    () => 0,
  )
  // Without an answer it is not known what came of it.
  if (status === 0 || status >= 300) return
  credential.isRevoked = true
  found.revoked++
  await Promise.all([0, 1, 2].map(at => use(credential, at)))
}

/** Kills a node and starts another one, or freezes it for less or more than its lease. */
async function trouble(at: number): Promise<void> {
  const { child, end } = nodeAt(at)
  troubled.add(at)
  if (random.chance(0.3)) {
    found.killed++
    await end('SIGKILL')
    nodes[at] = await cluster.start()
  } else {
    found.frozen++
    freezeProcess(child.pid ?? 0)
    await sleep(random.below(leaseSeconds * 2000))
    child.kill('SIGCONT')
  }
  troubled.delete(at)
}

t.test(`nothing is let in once its revocation was answered (SEED=${seed})`, async t => {
  // On a slow machine a node may be without a lease for a moment.
  let person: Person | undefined
  let first: Revocable | undefined
  await waitFor('a node takes changes', async () => {
    person ??= await makePerson(steady()).catch(() => undefined)
    if (person !== undefined) first = await makeRevocable(steady(), person).catch(() => undefined)
    return first !== undefined
  })
  if (person === undefined || first === undefined) throw new Error('there is none')
  const owner = person
  const credentials = [first]
  const endMs = performance.now() + seconds * 1000
  const repeat = async (work: () => Promise<unknown>, pauseMsMax: number) => {
    while (performance.now() < endMs) {
      await work()
      await sleep(random.below(pauseMsMax + 1))
    }
  }
  const send = () => use(random.pick(credentials as [Revocable]), random.below(3))
  const change = async () => {
    const made = await makeRevocable(steady(), owner).catch(() => undefined)
    if (made !== undefined) credentials.push(made)
    // Those that are revoked go on being used for a while.
    if (credentials.length > 30) credentials.shift()
    const current = credentials.filter(({ isRevoked }) => !isRevoked)
    if (current.length > 5) await revoke(random.pick(current as [Revocable]))
  }
  await Promise.all([
    ...Array.from({ length: 4 }, () => repeat(send, 0)),
    repeat(change, 20),
    repeat(change, 20),
    repeat(() => trouble(random.below(3)), 3_000),
  ])
  t.comment(JSON.stringify(found))
  t.equal(found.afterwards, 0)
  t.ok(found.accepted > 0 && found.revoked > 0 && found.frozen + found.killed > 0)
  await waitFor('every node has a lease again', async () => {
    const texts = await Promise.all(nodes.map(async ({ url }) => (await fetch(`${url}/health/ready`)).text()))
    return texts.every(text => !text.includes('lease'))
  })
})
