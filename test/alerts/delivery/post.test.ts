import { test } from 'tap'
import { createPost } from '../../../alerts/delivery/sender.ts'
import { createTargetCheck } from '../../../alerts/delivery/targets.ts'
import { type AlertReceiver, startReceiver } from '../../support/alert-receiver.ts'

function postTo({ origin }: AlertReceiver, more: { path?: string; secrets?: string[]; timeoutMs?: number } = {}) {
  const { path = '/hook', secrets = [], timeoutMs = 15_000 } = more
  const post = createPost(createTargetCheck({ allowed: [origin], ownAddresses: () => [] }))
  const posted = { url: `${origin}${path}`, headers: { 'x-test': 'a' }, body: '{"a":1}', secrets }
  return post(posted, AbortSignal.timeout(timeoutMs))
}

test('a notification is one POST, with its path, its headers and its body', async t => {
  const receiver = await startReceiver(t)
  t.match(await postTo(receiver, { path: '/hook?a=b' }), { outcome: 'delivered', status: 204, error: null, answer: '' })
  t.match(receiver.received, [{ path: '/hook?a=b', headers: { 'x-test': 'a' }, body: '{"a":1}' }])
})

test('the status decides between delivered, failed and gone', async t => {
  const receiver = await startReceiver(t)
  const statuses = { delivered: [200, 202, 299], failed: [301, 308, 400, 429, 500], gone: [410] }
  for (const [outcome, all] of Object.entries(statuses)) {
    for (const status of all) {
      receiver.answer = response => void response.writeHead(status).end('so')
      t.match(await postTo(receiver), { outcome, status, answer: 'so' }, String(status))
    }
  }
})

test('a redirect is not followed', async t => {
  const other = await startReceiver(t)
  const receiver = await startReceiver(t)
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer = response => void response.writeHead(status, { location: `${other.origin}/` }).end()
    t.match(await postTo(receiver), { outcome: 'failed', status, error: `status ${status}` })
  }
  t.strictSame(other.received, [])
})

test('only the beginning of a long response is read and stored', async t => {
  const receiver = await startReceiver(t)
  let sentBytes = 0
  receiver.answer = response => {
    response.writeHead(200)
    const piece = Buffer.alloc(64 * 1024, 'é')
    const more = () => {
      while (sentBytes < 10_000_000 && response.writable) {
        sentBytes += piece.length
        if (!response.write(piece)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  }
  const result = await postTo(receiver)
  t.match(result, { outcome: 'delivered', status: 200, answer: 'é'.repeat(1000) })
  t.ok(sentBytes < 10_000_000, `${sentBytes} bytes were sent`)
})

test('a stored response has no part of a secret address', async t => {
  const receiver = await startReceiver(t)
  const path = '/services/T0123456/B%20secret/xoxb-789012?token=query-secret'
  const url = `${receiver.origin}${path}`
  const secrets = [url, path, path.replaceAll('/', '\\/'), 'T0123456', 'B secret', 'xoxb-789012', 'query-secret']
  receiver.answer = response => void response.end(secrets.map(part => `<${part}>`).join(' '))
  const { answer } = await postTo(receiver, { path, secrets: [url] })
  t.notMatch(answer, /T0123456|secret|xoxb/)
  t.match(answer, /<\*\*\*>/)
  receiver.answer = response => void response.end(`no route ${'x'.repeat(975)} xoxb-789012 and ${path.repeat(200)}`)
  t.notMatch((await postTo(receiver, { path, secrets: [url] })).answer, /xoxb|T0123/, 'also across the end')
  for (let shift = 0; shift < path.length; shift += 4) {
    receiver.answer = response => void response.end(`${'x'.repeat(shift)}${path.repeat(200)}`)
    const { answer: masked } = await postTo(receiver, { path, secrets: [url] })
    t.notMatch(masked, /services|T0123|xoxb/, `where masks make it shorter, shifted by ${shift}`)
  }
  const short = 'api: {"ok":true} at /v1'
  receiver.answer = response => void response.end(short)
  t.equal((await postTo(receiver, { path: '/v1/api', secrets: [`${receiver.origin}/v1/api`] })).answer, short)
})

test('a receiver without a response, or with only its beginning, has failed', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = () => undefined
  t.match(await postTo(receiver, { timeoutMs: 100 }), { outcome: 'failed', status: null, error: 'no answer in time' })
  receiver.answer = response => void response.writeHead(200).write('half')
  t.match(await postTo(receiver, { timeoutMs: 3000 }), { outcome: 'delivered', status: 200, answer: 'half' })
  receiver.answer = response => void response.socket?.destroy()
  t.match(await postTo(receiver), { outcome: 'failed', status: null, error: 'UND_ERR_SOCKET' })
  receiver.answer = response => void response.socket?.end('no HTTP at all')
  t.match(await postTo(receiver), { outcome: 'failed', status: null, error: 'HTTPParserError' })
  t.match(await postTo({ ...receiver, origin: 'http://127.0.0.1:9' }), { outcome: 'failed', error: 'ECONNREFUSED' })
})

test('a response that PostgreSQL could not store, or that has a secret, is changed', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = response => void response.end(Buffer.from('a\0b\xff token-123, again token-123', 'latin1'))
  const { answer } = await postTo(receiver, { secrets: ['token-123', ''] })
  t.equal(answer, 'a\u{fffd}b\u{fffd} ***, again ***')
})
