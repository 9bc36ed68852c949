/** The two routes of the content files over HTTP, answers whole, on a real PostgreSQL, and under which address links are given out. */

import { STATUS_CODES } from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { type ContentFileAnswer, startContentFileStore, startListing } from '../../support/content-files.ts'
import { sampleLines, sampleObject, unpublishedLine } from '../../support/sample-content-files.ts'

const { postgres, importLines } = await startContentFileStore(t)
await importLines([...sampleLines, unpublishedLine])
const { origin, ask } = await startListing(t, postgres)
const path = '/api/v1/contentfiles/'
const all = [40, 30, 29, 28, 41]

const security = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
}
const routeHeaders = { ...security, allow: 'GET, HEAD, OPTIONS', vary: 'Accept' }

/** Without those that the connection brings. */
function whole({ status, headers, text }: ContentFileAnswer) {
  const { date, connection, 'keep-alive': keepAlive, ...others } = headers
  return { status, headers: others, text }
}

function json(status: number, body: object, { headers = routeHeaders as object, indent = 0 } = {}) {
  const text = JSON.stringify(body, null, indent)
  const length = `${Buffer.byteLength(text)}`
  return { status, headers: { ...headers, 'content-type': 'application/json', 'content-length': length }, text }
}

function listed(ids: readonly number[], more: { count?: number; next?: string; previous?: string } = {}) {
  const { count = ids.length, next, previous } = more
  const link = (query: string | undefined) => (query === undefined ? null : `${origin}${path}?${query}`)
  return json(200, { count, next: link(next), previous: link(previous), results: ids.map(sampleObject) })
}

const error = (status: number, detail: string, type: string) => json(status, { detail, error_type: type })
const notFound = error(404, 'Not found.', 'Http404')
const unknownFile = error(404, 'No ContentFile matches the given query.', 'Http404')
const notAcceptable = error(406, 'Could not satisfy the request Accept header.', 'NotAcceptable')
const notAllowed = (method: string) => error(405, `Method "${method}" not allowed.`, 'MethodNotAllowed')
const unmatched = json(
  404,
  { detail: 'The specified resource was not found.', error_type: 'Http404' },
  { headers: security },
)
const invalid = (errors: object) => json(400, { ...errors, error_type: 'ValidationError' })
const badNumber = ['Enter a number.']
const badChoice = (code: string) => [`Select a valid choice. ${code} is not one of the available choices.`]

t.test('the list and a file, whole', async t => {
  t.strictSame(whole(await ask(path)), listed(all))
  for (const id of all) t.strictSame(whole(await ask(`${path}${id}/`)), json(200, sampleObject(id)))
  t.strictSame(whole(await ask(`${path}0040/`)), json(200, sampleObject(40)))
  t.strictSame(whole(await ask(`${path}%34%30/`)), json(200, sampleObject(40)))
  const { text } = await ask(path)
  t.notMatch(text, 'The full text.')
})

t.test('paging', async t => {
  const pages = async (query: string, ids: number[], more: { next?: string; previous?: string } = {}) => {
    t.strictSame(whole(await ask(`${path}?${query}`)), listed(ids, { ...more, count: 5 }), query)
  }
  await pages('limit=1000', all)
  await pages('limit=%2B2', [40, 30], { next: 'limit=2&offset=2' })
  await pages('limit=2&offset=1', [30, 29], { next: 'limit=2&offset=3', previous: 'limit=2' })
  await pages('offset=18446744073709551616', [], { previous: 'limit=10&offset=18446744073709551606' })
  const kept = 'b=2&b=1&flag&x=%zz&y=%FF&z=*~%27,&%61=+'
  const encoded = 'a=+&b=2&b=1&flag=&limit=2&offset=2&x=%25zz&y=%EF%BF%BD&z=%2A~%27%2C'
  await pages(`limit=2&${kept}`, [40, 30], { next: encoded })
})

t.test('filters', async t => {
  const narrows = async (query: string, ids: number[]) => {
    t.strictSame(whole(await ask(`${path}?${query}`)), listed(ids), query)
    const kept = new Set(ids)
    for (const id of all) {
      const expected = kept.has(id) ? json(200, sampleObject(id)) : unknownFile
      t.strictSame(whole(await ask(`${path}${id}/?${query}`)), expected, `${id} ${query}`)
    }
  }
  await narrows('unknown=1', all)
  await narrows('offered_by=ocw', [40, 41])
  await narrows('offered_by=see', [])
  await narrows('platform=edx&offered_by=ocw', [])
  await narrows('run_id=6001&run_id=6002&run_id=', [30, 29, 28])
  await narrows('run_id=1e999999999', [])
  await narrows('resource_id=4121&run_id=6002', [28])
  await narrows('resource_id=4120&resource_id=7', [40, 41])
  await narrows('content_feature_type=%C3%BCBUNG', [40])
  await narrows('content_feature_type=exams&content_feature_type=lecture+notes', [40, 30, 28, 41])
  await narrows('edx_module_id=block-v1:mitx%2Btype@subs%2Bblock@%C3%A4&platform=edx', [29])
  await narrows('edx_module_id=A,B&edx_module_id=block-v1:mitx%2Btype@subs%2Bblock@%C3%A4', [40, 29, 41])
})

t.test('wrong filters', async t => {
  const errors = { run_id: badNumber, offered_by: badChoice('y'), platform: badChoice('x') }
  for (const address of [path, `${path}40/`, `${path}abc/`]) {
    t.strictSame(whole(await ask(`${address}?platform=x&offered_by=y&run_id=w`)), invalid(errors), address)
  }
})

t.test('ids', async t => {
  const answers = async (id: string, expected: object) => t.strictSame(whole(await ask(`${path}${id}/`)), expected, id)
  for (const id of ['999', '-40', '9223372036854775808', '4'.repeat(2_000)]) {
    await answers(id, unknownFile)
  }
  for (const id of ['abc', '4e1', '%2040', '--40', '%D9%A4', '%zz', '%FF']) {
    await answers(id, notFound)
  }
  await answers('50', unknownFile)
})

t.test('negotiation', async t => {
  t.strictSame(whole(await ask(path, { accept: '*/*' })), listed(all))
  const indented = await ask(path, { accept: 'application/json; indent=4' })
  t.strictSame(whole(indented), json(200, JSON.parse(listed(all).text), { indent: 4 }))
  for (const address of [path, `${path}40/`, `${path}?run_id=x`]) {
    t.strictSame(whole(await ask(address, { accept: 'image/png' })), notAcceptable, address)
  }
  const { status, headers, text } = await ask(path, { accept: 'text/html' })
  t.match(
    { status, headers },
    { status: 200, headers: { ...routeHeaders, 'content-type': 'text/html; charset=utf-8' } },
  )
  t.match(text, /^<!DOCTYPE html>/)
  const kept = { count: 5, next: 'format=json&limit=4&offset=4' }
  t.strictSame(whole(await ask(`${path}?format=json&limit=4`)), listed(all.slice(0, 4), kept))
  t.strictSame(whole(await ask(`${path}?format=api&format=json`)), listed(all), 'the last format wins')
  t.strictSame(whole(await ask(`${path}?format=json`, { accept: 'text/html' })), notAcceptable)
  for (const address of [path, `${path}40/`]) {
    t.strictSame(whole(await ask(`${address}?format=xml`)), notFound, address)
  }
})

t.test('what is judged first', async t => {
  const judges = async (method: string, address: string, headers: Record<string, string>, expected: object) => {
    t.strictSame(whole(await ask(address, headers, method)), expected, `${method} ${address}`)
  }
  const png = { accept: 'image/png' }
  const redirect = (location: string) => ({
    status: 301,
    headers: { ...security, location, 'content-type': 'text/html; charset=utf-8', 'content-length': '0' },
    text: '',
  })
  await judges('POST', '/api/v1/contentfiles?format=xml&run_id=x', png, redirect(`${path}?format=xml&run_id=x`))
  await judges('DELETE', '/api/v1/contentfiles/abc', png, redirect(`${path}abc/`))
  await judges('POST', `${path}?format=xml&run_id=x`, png, notFound)
  await judges('POST', `${path}?run_id=x`, png, notAcceptable)
  await judges('OPTIONS', `${path}?run_id=x`, png, notAcceptable)
  await judges('POST', `${path}?run_id=x`, {}, notAllowed('POST'))
  await judges('PUT', `${path}abc/?run_id=x`, {}, notAllowed('PUT'))
  await judges('GET', `${path}abc/?run_id=x`, {}, invalid({ run_id: badNumber }))
  await judges('GET', `${path}abc/`, {}, notFound)
  await judges('GET', `${path}999/`, {}, unknownFile)
})

t.test('a path without its slash leads to the one with it', async t => {
  const leads = async (from: string, to: string, method = 'GET') => {
    const answer = await ask(from, {}, method)
    t.equal(answer.status, 301, from)
    t.equal(answer.headers.location, to, from)
    t.equal(answer.text, '', from)
  }
  for (const method of ['GET', 'POST']) {
    await leads('/api/v1/contentfiles?b=%zz&a=*&b', `${path}?b=%zz&a=*&b`, method)
  }
  await leads('/api/v1/contentfiles?', path)
  await leads('/api/v1/contentfiles/40', `${path}40/`)
  await leads('/api/v1/contentfiles/%C3%A4?x', `${path}%C3%A4/?x`)
  await leads(`/api/v1/contentfiles/${'4'.repeat(2_000)}`, `${path}${'4'.repeat(2_000)}/`)
})

t.test('any other path is none', async t => {
  for (const rest of ['', 'contentfiles.json/', 'contentfiles/1.5/', 'Contentfiles/', 'contentfiles//', '%zz']) {
    for (const method of ['GET', 'PROPFIND']) {
      t.strictSame(whole(await ask(`/api/v1/${rest}`, { accept: 'image/png' }, method)), unmatched, `${method} ${rest}`)
    }
  }
  t.strictSame(whole(await ask('/api/v1/x?format=api', { accept: 'text/html' })), unmatched)
})

t.test('methods', async t => {
  for (const method of ['POST', 'DELETE', 'PROPFIND']) {
    for (const address of [path, `${path}40/`]) {
      t.strictSame(whole(await ask(address, {}, method)), notAllowed(method), method)
    }
  }
  const withBody = await ask(path, { 'content-type': 'application/json', 'content-length': '0' }, 'POST')
  t.strictSame(whole(withBody), notAllowed('POST'))
  for (const address of [path, `${path}40/`, `${path}999/`, `${path}?run_id=x`]) {
    const get = whole(await ask(address))
    t.strictSame(whole(await ask(address, {}, 'HEAD')), { ...get, text: '' }, `HEAD ${address}`)
  }
  const head = await ask(`${path}?format=api`, {}, 'HEAD')
  t.match(head, { status: 200, text: '', headers: { 'content-type': 'text/html; charset=utf-8' } })
  const description = {
    description: 'Viewset for ContentFiles',
    renders: ['application/json', 'text/html'],
    parses: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  }
  const list = json(200, { name: 'Content File List', ...description })
  const instance = json(200, { name: 'Content File Instance', ...description })
  for (const query of ['', '?run_id=x&limit=y']) {
    t.strictSame(whole(await ask(`${path}${query}`, {}, 'OPTIONS')), list)
    for (const id of ['40', '999', 'abc'])
      t.strictSame(whole(await ask(`${path}${id}/${query}`, {}, 'OPTIONS')), instance)
  }
})

t.test('errors as a page', async t => {
  const shows = async (address: string, method: string, expected: number, words: string[]) => {
    const { status, headers, text } = await ask(address, {}, method)
    t.equal(status, expected, address)
    t.match(headers, { ...routeHeaders, 'content-type': 'text/html; charset=utf-8' })
    for (const word of [STATUS_CODES[expected] ?? '', ...words]) t.ok(text.includes(word), `${address}: ${word}`)
  }
  await shows(`${path}?format=api&run_id=%3Cb%3E`, 'GET', 400, ['Enter a number.'])
  await shows(`${path}?format=api&offered_by=%3Cb%3E`, 'GET', 400, ['&lt;b&gt; is not one of'])
  await shows(`${path}999/?format=api`, 'GET', 404, ['No ContentFile matches the given query.'])
  await shows(`${path}?format=api`, 'POST', 405, ['MethodNotAllowed'])
  await shows(`${path}?format=api`, 'OPTIONS', 200, ['Viewset for ContentFiles', 'multipart/form-data'])
  const { text } = await ask(`${path}?format=api`)
  t.notMatch(text, '<script>')
  t.notMatch(text, '<em>')
  t.match(text, '&lt;script&gt;alert(1)&lt;/script&gt;')
})

t.test('a thousand arguments are read, one more is refused in any form', async t => {
  const many = (count: number) => `?${'a&'.repeat(count - 1)}limit=100`
  t.equal((await ask(`${path}${many(1_000)}`)).status, 200)
  const refusal = error(400, 'The query string has more than 1000 arguments.', 'TooManyFieldsSent')
  t.strictSame(whole(await ask(`${path}${many(1_001)}`)), refusal)
  t.strictSame(whole(await ask(`${path}40/${many(5_000)}&format=api`)), refusal)
  t.equal((await ask(`${path.slice(0, -1)}${many(1_001)}`)).status, 301)
})

type Ask = Awaited<ReturnType<typeof startListing>>['ask']

async function nextOf(ask: Ask, headers: Record<string, string>): Promise<string> {
  return JSON.parse((await ask(`${path}?limit=1`, headers)).text).next
}
const linkAt = (base: string) => `${base}${path}?limit=1&offset=1`

t.test('without a configured address, the one of the request', async t => {
  const { ask, origin } = await startListing(t, postgres)
  const gives = async (headers: Record<string, string>, base: string) => {
    t.equal(await nextOf(ask, headers), linkAt(base), JSON.stringify(headers))
  }
  await gives({}, origin)
  await gives({ host: 'sensors.example' }, 'http://sensors.example')
  await gives({ host: 'Sensors.example:8443' }, 'http://Sensors.example:8443')
  await gives({ host: '[::1]:8080' }, 'http://[::1]:8080')
  for (const host of ['a"b', 'a/b', 'a@b', 'a b', '<x>', '', 'a:b', '[x]', 'x:123456']) await gives({ host }, origin)
  const forwarded = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
  await gives({ host: 'sensors.example', ...forwarded }, 'http://sensors.example')
})

t.test('a request of HTTP/1.0 without a host', async t => {
  const { origin } = await startListing(t, postgres)
  const socket = net.connect(Number(new URL(origin).port), '127.0.0.1')
  socket.write(`GET ${path}?limit=1 HTTP/1.0\r\n\r\n`)
  const answer = await text(socket)
  t.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).next, linkAt(origin))
})

t.test('behind a trusted proxy, the one that it names', async t => {
  const forwarded = { 'x-forwarded-host': 'sensors.example', 'x-forwarded-proto': 'https' }
  const trusted = await startListing(t, postgres, { trustProxy: ['127.0.0.1'] })
  t.equal(await nextOf(trusted.ask, forwarded), linkAt('https://sensors.example'))
  t.equal(
    await nextOf(trusted.ask, { ...forwarded, 'x-forwarded-proto': 'javascript' }),
    linkAt('http://sensors.example'),
  )
  const untrusted = await startListing(t, postgres, { trustProxy: ['10.0.0.0/8'] })
  t.equal(await nextOf(untrusted.ask, { host: 'a.example', ...forwarded }), linkAt('http://a.example'))
})

t.test('a configured address', async t => {
  const gives = async (publicUrl: string, base: string) => {
    const { ask } = await startListing(t, postgres, { publicUrl })
    t.equal(await nextOf(ask, { host: 'evil.example' }), linkAt(base), publicUrl)
  }
  await gives('https://sensors.example', 'https://sensors.example')
  await gives('https://sensors.example:8443/', 'https://sensors.example:8443')
  await gives('https://sensors.example/barograph/', 'https://sensors.example/barograph')
})
