/** What takes several requests, behind a load balancer that sends each of them to another node than the one before. */

import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { startAlternatingProxy } from '../support/alternating-proxy.ts'
import { openCluster } from '../support/nodes.ts'
import { password } from '../support/people.ts'
import { waitFor } from '../support/wait-for.ts'

const cluster = await openCluster(t)
const port = await freePort()
const settings = { PUBLIC_URL: `http://localhost:${port}`, TRUST_PROXY: '127.0.0.1' }
const nodes = [await cluster.start(settings), await cluster.start(settings)]
const { url, counts } = await startAlternatingProxy(
  t,
  port,
  nodes.map(node => node.url),
)

interface Answer {
  status: number
  text: string
  location: string | null
  /** What a browser has after this answer. */
  cookie: string
}

/** As a browser does, which keeps cookies. */
function createVisitor() {
  const jar = new Map<string, string>()
  const cookieText = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  return async (path: string, form?: Record<string, string>): Promise<Answer> => {
    const headers = { cookie: cookieText(), ...(form === undefined ? {} : { origin: url }) }
    const init = form === undefined ? { headers } : { method: 'POST', headers, body: new URLSearchParams(form) }
    const response = await fetch(`${url}${path}`, { ...init, redirect: 'manual' })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    const { status, headers: answered } = response
    return { status, text: await response.text(), location: answered.get('location'), cookie: cookieText() }
  }
}

const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
  const response = await fetch(`${url}/v1/auth${path}`, { ...init, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** The value of a field of the form. */
const fieldOf = (text: string, name: string) => new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(text)?.[1] ?? ''

/** Both orders of the two nodes. */
async function eachWay(work: (at: number) => Promise<void>): Promise<void> {
  for (const at of [0, 1]) {
    if (at === 1) await fetch(`${url}/health/live`)
    await work(at)
  }
}

t.test('the setup link is the same at each node, and one request of it may go to each', async t => {
  const linksOf = () => nodes.map(node => /"setupUrl":"([^"]+)"/.exec(node.output())?.[1])
  await waitFor('the links are in the logs', () => linksOf().every(link => link !== undefined))
  const links = linksOf()
  t.ok(links[0]?.startsWith(`${url}/setup?token=`))
  t.equal(links[1], links[0])
  const path = (links[0] ?? '').slice(url.length)
  const visit = createVisitor()
  for (const node of [0, 1]) t.equal((await visit(path)).status, 200, `asked ${node}`)
  const token = fieldOf((await visit(path)).text, 'token')
  const made = await visit('/setup', { token, email: 'olga@example.com', password })
  t.match(made, { status: 303, location: /account\?done=signed-up$/ })
  for (const node of [0, 1]) {
    t.equal((await visit('/account')).status, 200, `signed in, asked ${node}`)
    t.equal((await createVisitor()(path)).status, 404, `there is an operator, asked ${node}`)
  }
})

t.test('who signs in by the page is signed in at each node, and signed out at each', async t => {
  await eachWay(async at => {
    const visit = createVisitor()
    t.equal((await visit('/sign-in')).status, 200)
    t.match(await visit('/sign-in', { email: 'olga@example.com', password }), { status: 303 }, `order ${at}`)
    for (const node of [0, 1]) t.equal((await visit('/account')).status, 200, `asked ${node}`)
    const before = createVisitor()
    const kept = (await visit('/account')).cookie
    t.match(await visit('/sign-out', {}), { status: 303 })
    for (const node of [0, 1]) {
      const response = await fetch(`${url}/account`, { headers: { cookie: kept }, redirect: 'manual' })
      await response.arrayBuffer()
      t.equal(response.status, 303, `its session has ended, asked ${node}`)
      t.match(await before('/account'), { status: 303, location: /sign-in/ })
    }
  })
})

t.test('Auth.js takes the CSRF token that another node has given', async t => {
  await eachWay(async at => {
    const visit = createVisitor()
    const { csrfToken } = JSON.parse((await visit('/auth/csrf')).text)
    const signedIn = await visit('/auth/callback/credentials', { csrfToken, email: 'olga@example.com', password })
    t.equal(signedIn.status, 302)
    t.notMatch(signedIn.location, /error/, `order ${at}`)
    for (const node of [0, 1]) {
      t.match(JSON.parse((await visit('/auth/session')).text), { user: { email: 'olga@example.com' } }, `asked ${node}`)
    }
    t.match(await visit('/auth/callback/credentials', { csrfToken: 'x', email: 'olga@example.com', password }), {
      location: /MissingCSRF/,
    })
  })
})

t.test('a device gets its key though it asks, and is looked up, approved and answered at other nodes', async t => {
  await eachWay(async at => {
    const visit = createVisitor()
    await visit('/sign-in', { email: 'olga@example.com', password })
    const { body: grant } = await post('/device/start', { client_name: `Display ${at}` })
    const shown = await visit('/device', { form: 'look-up', user_code: String(grant['user_code']) })
    t.match(shown.text, `Display ${at}`)
    const fields = ['user_code', 'client_name', 'token'].map(name => [name, fieldOf(shown.text, name)])
    const decision = { form: 'decide', ...Object.fromEntries(fields), decision: 'approve' }
    const decided = await visit('/device', decision)
    t.match(decided.text, 'has an API key with the permission to read', `order ${at}`)
    const polled = await post('/device/poll', { device_code: grant['device_code'] })
    t.match(polled.body, { status: 'approved', api_key: /^barograph_key_/ })
    const key = String(polled.body['api_key'])
    for (const node of [0, 1]) {
      // Of no device: 404 for whom reads are open to.
      const response = await fetch(`${url}/api/device/nobody`, { headers: { 'x-api-key': key } })
      await response.arrayBuffer()
      t.equal(response.status, 404, `asked ${node}`)
    }
  })
})

t.test('a session that one node has just begun is known to the other one', async t => {
  for (let at = 0; at < 10; at++) {
    const { body } = await post('/token', { email: 'olga@example.com', password })
    const response = await fetch(`${url}/v1/auth/me`, { headers: { authorization: `Bearer ${body['access_token']}` } })
    await response.arrayBuffer()
    t.equal(response.status, 200)
  }
})

t.test('each node has had half of it', async t => {
  const [first = 0, second = 0] = counts
  t.ok(first > 30 && Math.abs(first - second) <= 1, counts.join())
})
