/** Security headers are part of every answer. */

import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { securityHeaders } from '../../api/http/response-headers.ts'
import { buildWeb } from '../../web/build.ts'
import { published } from '../support/published.ts'
import { exchangeRaw } from '../support/raw-connection.ts'
import { sharedService } from '../support/service.ts'

await buildWeb()
const service = await sharedService(t)
const { url } = service

/** The headers that an answer lacks. */
async function lacks(
  method: string,
  path: string,
  wanted: Record<string, string> = securityHeaders,
): Promise<string[]> {
  const { status, headers, body } = await fetch(url + path, { method, redirect: 'manual' })
  await body?.cancel()
  const missing = Object.entries(wanted).filter(([name, value]) => headers.get(name) !== value)
  return missing.map(([name]) => `${method} ${path} ${status}: ${name} is ${headers.get(name)}`)
}

t.test('each operation of the contract', async t => {
  const operations = Object.entries(published.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1')] as const),
  )
  t.ok(operations.length > 100)
  const missing = await Promise.all(operations.map(([method, path]) => lacks(method, path)))
  t.strictSame(missing.flat(), [])
})

t.test('each page, each file of them, redirects and refusals', async t => {
  const own = ['/sign-in', '/sign-up', '/reset?token=x', '/verify?token=x', '/setup?token=x', '/account', '/device']
  const pages = ['/', '/compare', '/admin', '/device/porch', '/docs', '/docs/statistics', ...own]
  const withOpener = { ...securityHeaders, 'cross-origin-opener-policy': 'same-origin' }
  t.strictSame((await Promise.all(pages.map(path => lacks('GET', path, withOpener)))).flat(), [])
  const files = readdirSync(join(resolve('web/dist'), 'assets')).map(name => `/assets/${name}`)
  const auth = ['/auth/csrf', '/auth/error', '/auth/signin', '/auth/session', '/auth/nowhere']
  const others = ['/favicon.ico', '/sign-in/', '/nowhere', '/api/nowhere', '/device/%zz', '/api/admin/%zz', '/metrics']
  for (const path of [...files, ...auth, ...others, '/api/v1/contentfiles', '/openapi.json', '/api/v1.0/device/%zz']) {
    t.strictSame(await lacks('GET', path), [], path)
    t.strictSame(await lacks('DELETE', path), [], path)
  }
})

t.test('security headers on invalid requests', async t => {
  for (const text of ['nonsense\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n']) {
    const answer = (await exchangeRaw(t, url, text)).toLowerCase()
    for (const [name, value] of Object.entries(securityHeaders)) {
      t.match(answer, `\r\n${name}: ${value.toLowerCase()}\r\n`, text)
    }
  }
})

t.test('a path of the admin API that cannot be decoded is refused in its shape', async t => {
  const problem = (name: string, status: number) => ({
    status,
    body: { type: `urn:barograph:problem:${name}`, status },
  })
  t.match(await service.admin('GET', '/devices/%zz'), problem('bad-request', 400))
  t.match(await service.admin('GET', `/devices/${'x'.repeat(2000)}`), problem('uri-too-long', 414))
  const stranger = await fetch(`${url}/api/admin/devices/%zz`)
  t.equal(stranger.status, 401)
  t.match(stranger.headers.get('content-type'), /problem\+json/)
})
