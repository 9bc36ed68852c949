/** Under which address links are given out. */

import net from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { startContentFileStore, startListing } from '../../support/content-files.ts'
import { sampleLines } from '../../support/sample-content-files.ts'

const { postgres, importLines } = await startContentFileStore(t)
await importLines(sampleLines)
const path = '/api/v1/contentfiles/'

type Ask = Awaited<ReturnType<typeof startListing>>['ask']

async function next(ask: Ask, headers: Record<string, string>): Promise<string> {
  return JSON.parse((await ask(`${path}?limit=1`, headers)).text).next
}
const link = (base: string) => `${base}${path}?limit=1&offset=1`

t.test('without a configured address, the one of the request', async t => {
  const { ask, origin } = await startListing(t, postgres)
  const gives = async (headers: Record<string, string>, base: string) => {
    t.equal(await next(ask, headers), link(base), JSON.stringify(headers))
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
  t.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).next, link(origin))
})

t.test('behind a trusted proxy, the one that it names', async t => {
  const forwarded = { 'x-forwarded-host': 'sensors.example', 'x-forwarded-proto': 'https' }
  const trusted = await startListing(t, postgres, { trustProxy: ['127.0.0.1'] })
  t.equal(await next(trusted.ask, forwarded), link('https://sensors.example'))
  t.equal(await next(trusted.ask, { ...forwarded, 'x-forwarded-proto': 'javascript' }), link('http://sensors.example'))
  const untrusted = await startListing(t, postgres, { trustProxy: ['10.0.0.0/8'] })
  t.equal(await next(untrusted.ask, { host: 'a.example', ...forwarded }), link('http://a.example'))
})

t.test('a configured address', async t => {
  const gives = async (publicUrl: string, base: string) => {
    const { ask } = await startListing(t, postgres, { publicUrl })
    t.equal(await next(ask, { host: 'evil.example' }), link(base), publicUrl)
  }
  await gives('https://sensors.example', 'https://sensors.example')
  await gives('https://sensors.example:8443/', 'https://sensors.example:8443')
  await gives('https://sensors.example/barograph/', 'https://sensors.example/barograph')
})
