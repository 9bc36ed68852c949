/** Allowed and forbidden targets of notifications, against servers that must not be contacted. */

import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { test } from 'tap'
import { createPost } from '../../../alerts/delivery/sender.ts'
import { createTargetCheck, type TargetCheckOptions } from '../../../alerts/delivery/targets.ts'
import { startReceiver } from '../../support/alert-receiver.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { temporaryFolder } from '../../support/databases.ts'

const signal = () => AbortSignal.timeout(15_000)

function check(options: Partial<TargetCheckOptions> = {}) {
  return createTargetCheck({ allowed: [], ownAddresses: () => [], ...options })
}

function post(url: string, options: Partial<TargetCheckOptions> = {}) {
  return createPost(check(options))({ url, headers: {}, body: '{}', secrets: [url] }, signal())
}

test('forbidden addresses of the web are rejected when they are set', async t => {
  const refused: [string, RegExp][] = [
    ['not an address', /must be an address/],
    [`https://example.com/${'a'.repeat(2000)}`, /must be an address/],
    ['ftp://example.com/', /must begin with https/],
    ['http://example.com/', /must be https/],
    ['http://127.0.0.1:9093/', /must be https/],
    ['https://user@example.com/', /user name/],
    ['https://:secret@example.com/', /user name/],
    ['https://2130706433/', /not public/],
    ['https://[::1]/', /not public/],
    ['https://169.254.169.254/latest/meta-data', /not public/],
    ['https://１２７.0.0.1/', /not public/],
  ]
  const { faultOf } = check()
  for (const [url, fault] of refused) t.match(faultOf(url), fault, url)
  t.equal(faultOf('https://example.com:8443/hook?a=b'), undefined)
  t.equal(faultOf('https://1.1.1.1/'), undefined)
})

test('only addresses listed by the operator may be local and without TLS', async t => {
  const { faultOf } = check({ allowed: ['http://127.0.0.1:9093', 'https://localhost', '10.0.0.0/8'] })
  const allowed = ['http://127.0.0.1:9093/api', 'https://localhost/', 'https://10.1.1.1/', 'http://10.1.1.1:80/']
  for (const url of allowed) t.equal(faultOf(url), undefined, url)
  for (const url of ['http://127.0.0.1:9094/', 'https://127.0.0.1:9093/', 'https://11.1.1.1.nip/', 'http://1.1.1.1/']) {
    t.equal(faultOf(url) === undefined, url === 'https://11.1.1.1.nip/', url)
  }
})

test('a name with any address that is not public is not connected to', async t => {
  const receiver = await startReceiver(t)
  for (const addresses of ['127.0.0.1', '::1', '::ffff:10.0.0.1', '169.254.169.254', '1.1.1.1,127.0.0.1', 'fd00::1']) {
    const resolve = async () => addresses.split(',')
    const result = await post(`https://hook.example:${receiver.port}/`, { resolve })
    t.match(result, { outcome: 'failed', status: null, error: /not public/ }, addresses)
  }
  const own = { resolve: async () => ['1.2.3.4'], ownAddresses: () => ['1.2.3.4'] }
  t.match(await post(`https://hook.example:${receiver.port}/`, own), { error: /not public/ }, 'our own address')
  t.strictSame(receiver.received, [])
})

test('a name without an address, as a dangling CNAME, is an error of that delivery', async t => {
  const missing = Object.assign(new Error('queryA ENOTFOUND hook.example'), { code: 'ENOTFOUND' })
  const resolutions: [() => Promise<string[]>, string | RegExp][] = [
    [async () => [], 'ENODATA'],
    [async () => ['no address'], /not public/],
    [() => Promise.reject(new Error('a name server that fails')), 'Error'],
    [() => Promise.reject(missing), 'ENOTFOUND'],
  ]
  for (const [resolve, error] of resolutions) {
    t.match(await post('https://hook.example/', { resolve }), { outcome: 'failed', error })
  }
})

test('each connection goes to the address that was checked for it', async t => {
  const first = await startReceiver(t, '127.0.0.2')
  const second = await startReceiver(t, '127.0.0.1', first.port)
  let lookups = 0
  const options = { allowed: ['127.0.0.2'], resolve: async () => [lookups++ === 0 ? '127.0.0.2' : '127.0.0.1'] }
  const url = `http://rebind.example:${first.port}/hook`
  t.match(await post(url, options), { outcome: 'delivered', status: 204 })
  t.equal(lookups, 1)
  t.match(first.received, [{ path: '/hook', headers: { host: `rebind.example:${first.port}` } }])
  t.match(await post(url, options), { outcome: 'failed', error: /https/ })
  t.equal(lookups, 2)
  t.strictSame([first.received.length, second.received.length], [1, 0])
})

test('a connection with TLS checks the certificate against the name', async t => {
  const { key, cert } = makeCertificate(temporaryFolder(t))
  const server = createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) =>
    response.end('ok'),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise(resolve => server.close(resolve)))
  const { port } = server.address() as AddressInfo
  const allowed = ['127.0.0.1']
  const untrusted = { outcome: 'failed', error: 'DEPTH_ZERO_SELF_SIGNED_CERT' }
  t.match(await post(`https://127.0.0.1:${port}/`, { allowed }), untrusted)
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, readFileSync(cert, 'utf8')])
  t.teardown(() => setDefaultCACertificates(before))
  t.match(await post(`https://127.0.0.1:${port}/`, { allowed }), { outcome: 'delivered', answer: 'ok' })
  const named = await post(`https://hook.example:${port}/`, { allowed, resolve: async () => ['127.0.0.1'] })
  t.match(named, { outcome: 'failed', error: 'ERR_TLS_CERT_ALTNAME_INVALID' })
})

test('a name that is not resolved in time fails', async t => {
  // An abort alone keeps no process alive.
  const alive = setInterval(() => undefined, 1000)
  t.teardown(() => clearInterval(alive))
  const silent = createPost(check({ resolve: () => new Promise(() => undefined) }))
  const posted = { url: 'https://hook.example/', headers: {}, body: '', secrets: [] }
  const result = await silent(posted, AbortSignal.timeout(50))
  t.match(result, { outcome: 'failed', error: 'no answer in time' })
})
