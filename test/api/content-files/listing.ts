/** The two routes of the content files over HTTP on a real PostgreSQL: whole responses, and the address in their links. */

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

const security = { 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'referrer-policy': 'same-origin' }
const routeHeaders = { ...security, allow: 'GET, HEAD, OPTIONS', vary: 'Accept' }

/** The response without the headers of the connection. */
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
const unmatchedError = { detail: 'The specified resource was not found.', error_type: 'Http404' }
const unmatched = json(404, unmatchedError, { headers: security })
const invalid = (errors: object) => json(400, { ...errors, error_type: 'ValidationError' })
const badNumber = ['Enter a number.']
/** Expects a whole response. */
const gives = async (address: string, expected: object, headers: Record<string, string> = {}, method = 'GET') =>
  t.strictSame(whole(await ask(address, headers, method)), expected, `${method} ${address}`)
const badChoice = (code: string) => [`Select a valid choice. ${code} is not one of the available choices.`]

t.test('the list and a file are complete', async t => {
  await gives(path, listed(all))
  for (const id of all) await gives(`${path}${id}/`, json(200, sampleObject(id)))
  for (const id of ['0040', '%34%30']) await gives(`${path}${id}/`, json(200, sampleObject(40)))
  const { text } = await ask(path)
  t.notMatch(text, 'The full text.')
  const indented = json(200, JSON.parse(listed(all).text), { indent: 4 })
  await gives(path, indented, { accept: 'application/json; indent=4' })
  t.match(await ask(path, { accept: 'text/html' }), { status: 200, text: /^<!DOCTYPE html>/ })
})

t.test('lists are paged', async () => {
  const pages = (query: string, ids: number[], more: { next?: string; previous?: string } = {}) =>
    gives(`${path}?${query}`, listed(ids, { ...more, count: 5 }))
  await pages('limit=2&offset=1', [30, 29], { next: 'limit=2&offset=3', previous: 'limit=2' })
  await pages('limit=2&b=2&b=1&flag', [40, 30], { next: 'b=2&b=1&flag=&limit=2&offset=2' })
})

t.test('lists are filtered', async () => {
  const narrows = async (query: string, ids: number[]) => {
    await gives(`${path}?${query}`, listed(ids))
    for (const id of all) {
      await gives(`${path}${id}/?${query}`, ids.includes(id) ? json(200, sampleObject(id)) : unknownFile)
    }
  }
  await narrows('unknown=1', all)
  await narrows('offered_by=ocw', [40, 41])
  await narrows('platform=edx&offered_by=ocw', [])
  await narrows('resource_id=4121&run_id=6002', [28])
  await narrows('content_feature_type=%C3%BCBUNG', [40])
  await narrows('content_feature_type=exams&content_feature_type=lecture+notes', [40, 30, 28, 41])
  await narrows('edx_module_id=A,B&edx_module_id=block-v1:mitx%2Btype@subs%2Bblock@%C3%A4', [40, 29, 41])
})

t.test('wrong filters and ids have their errors', async () => {
  const errors = { run_id: badNumber, offered_by: badChoice('y'), platform: badChoice('x') }
  const wrong = '?platform=x&offered_by=y&run_id=w'
  for (const address of [path, `${path}40/`, `${path}abc/`]) await gives(`${address}${wrong}`, invalid(errors))
  const unknown = ['999', '-40', '9223372036854775808', '4'.repeat(2_000), '50']
  for (const id of unknown) await gives(`${path}${id}/`, unknownFile)
  for (const id of ['abc', '4e1', '%2040', '--40', '%D9%A4', '%zz', '%FF']) await gives(`${path}${id}/`, notFound)
})

t.test('checks are in the order path, format, Accept, method, filters, id', async () => {
  const judges = (method: string, address: string, headers: Record<string, string>, expected: object) =>
    gives(address, expected, headers, method)
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

t.test('a path without its slash redirects to the one with it', async t => {
  const leads = async (from: string, location: string, method = 'GET') =>
    t.match(await ask(from, {}, method), { status: 301, headers: { location }, text: /^$/ }, from)
  for (const method of ['GET', 'POST']) {
    await leads('/api/v1/contentfiles?b=%zz&a=*&b', `${path}?b=%zz&a=*&b`, method)
  }
  await leads('/api/v1/contentfiles?', path)
  await leads('/api/v1/contentfiles/40', `${path}40/`)
  await leads('/api/v1/contentfiles/%C3%A4?x', `${path}%C3%A4/?x`)
  await leads(`/api/v1/contentfiles/${'4'.repeat(2_000)}`, `${path}${'4'.repeat(2_000)}/`)
})

t.test('any other path is a 404', async () => {
  for (const rest of ['', 'contentfiles.json/', 'contentfiles/1.5/', 'Contentfiles/', 'contentfiles//', '%zz']) {
    for (const method of ['GET', 'PROPFIND']) {
      await gives(`/api/v1/${rest}`, unmatched, { accept: 'image/png' }, method)
    }
  }
  await gives('/api/v1/x?format=api', unmatched, { accept: 'text/html' })
})

t.test('other methods are a 405', async t => {
  for (const method of ['POST', 'DELETE', 'PROPFIND']) {
    for (const address of [path, `${path}40/`]) await gives(address, notAllowed(method), {}, method)
  }
  await gives(path, notAllowed('POST'), { 'content-type': 'application/json', 'content-length': '0' }, 'POST')
  for (const address of [path, `${path}40/`, `${path}999/`, `${path}?run_id=x`]) {
    const get = whole(await ask(address))
    await gives(address, { ...get, text: '' }, {}, 'HEAD')
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
    await gives(`${path}${query}`, list, {}, 'OPTIONS')
    for (const id of ['40', '999', 'abc']) await gives(`${path}${id}/${query}`, instance, {}, 'OPTIONS')
  }
})

t.test('errors are pages', async t => {
  const shows = async (address: string, method: string, expected: number, words: string[]) => {
    const { status, headers, text } = await ask(address, {}, method)
    t.equal(status, expected, address)
    t.match(headers, { ...routeHeaders, 'content-type': 'text/html; charset=utf-8' })
    for (const word of [STATUS_CODES[expected] ?? '', ...words]) t.ok(text.includes(word), `${address}: ${word}`)
  }
  await shows(`${path}?format=api&run_id=%3Cb%3E`, 'GET', 400, ['Enter a number.'])
  await shows(`${path}999/?format=api`, 'GET', 404, ['No ContentFile matches the given query.'])
  await shows(`${path}?format=api`, 'POST', 405, ['MethodNotAllowed'])
  await shows(`${path}?format=api`, 'OPTIONS', 200, ['Viewset for ContentFiles', 'multipart/form-data'])
})

t.test('a thousand arguments are read, one more is rejected in any form', async t => {
  const many = (count: number) => `?${'a&'.repeat(count - 1)}limit=100`
  t.equal((await ask(`${path}${many(1_000)}`)).status, 200)
  const refusal = error(400, 'The query string has more than 1000 arguments.', 'TooManyFieldsSent')
  await gives(`${path}${many(1_001)}`, refusal)
  await gives(`${path}40/${many(5_000)}&format=api`, refusal)
  t.equal((await ask(`${path.slice(0, -1)}${many(1_001)}`)).status, 301)
})

type Ask = Awaited<ReturnType<typeof startListing>>['ask']

async function nextOf(ask: Ask, headers: Record<string, string>): Promise<string> {
  return JSON.parse((await ask(`${path}?limit=1`, headers)).text).next
}
const linkAt = (base: string) => `${base}${path}?limit=1&offset=1`

t.test("without a configured address links use the request's", async t => {
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

t.test('links in the response to HTTP/1.0 without a host use the address of the socket', async t => {
  const { origin } = await startListing(t, postgres)
  const socket = net.connect(Number(new URL(origin).port), '127.0.0.1')
  socket.write(`GET ${path}?limit=1 HTTP/1.0\r\n\r\n`)
  const answer = await text(socket)
  t.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).next, linkAt(origin))
})

t.test('behind a trusted proxy links use the address that it names', async t => {
  const forwarded = { 'x-forwarded-host': 'sensors.example', 'x-forwarded-proto': 'https' }
  const trusted = await startListing(t, postgres, { trustProxy: ['127.0.0.1'] })
  t.equal(await nextOf(trusted.ask, forwarded), linkAt('https://sensors.example'))
  const odd = { ...forwarded, 'x-forwarded-proto': 'javascript' }
  t.equal(await nextOf(trusted.ask, odd), linkAt('http://sensors.example'))
  const untrusted = await startListing(t, postgres, { trustProxy: ['10.0.0.0/8'] })
  t.equal(await nextOf(untrusted.ask, { host: 'a.example', ...forwarded }), linkAt('http://a.example'))
})

t.test('links use the configured address', async t => {
  const gives = async (publicUrl: string, base: string) => {
    const { ask } = await startListing(t, postgres, { publicUrl })
    t.equal(await nextOf(ask, { host: 'evil.example' }), linkAt(base), publicUrl)
  }
  await gives('https://sensors.example', 'https://sensors.example')
  await gives('https://sensors.example:8443/', 'https://sensors.example:8443')
  await gives('https://sensors.example/barograph/', 'https://sensors.example/barograph')
})
