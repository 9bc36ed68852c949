/** Forms of the pages: their bodies, their tokens, and their redirect addresses. */

import fc from 'fast-check'
import t from 'tap'
import { createFormTokens } from '../../../api/sign-in/pages/device.ts'
import { parseForm } from '../../../api/sign-in/pages/form.ts'
import { returnAddress } from '../../../api/sign-in/pages/page.ts'
import type { SignedIn } from '../../../auth/sessions/session-codec.ts'

const type = 'application/x-www-form-urlencoded'
const parse = (text: string, contentType = type) => parseForm(Buffer.from(text), contentType)

t.test('a form is parsed as it was written', async t => {
  t.strictSame(parse(''), {})
  t.strictSame(parse('a=1&b=&c'), { a: '1', b: '', c: '' })
  t.strictSame(parse('a=x+y%20z%2B%26&b=%C3%A4%F0%9F%98%80', `${type}; charset=UTF-8`), { a: 'x y z+&', b: 'ä😀' })
  t.strictSame(Object.keys(parse('__proto__=1&constructor=2') ?? {}), ['__proto__', 'constructor'])
})

t.test('a body in another form is rejected', async t => {
  const long = Array.from({ length: 52 }, (_, at) => `f${at}=`).join('&')
  for (const text of ['a=1&a=2', 'a=%', 'a=%ff', 'a=%C3', '%ff=1', 'a=ä', long]) t.equal(parse(text), undefined, text)
  for (const contentType of ['application/json', 'text/plain', 'multipart/form-data', 'x', '']) {
    t.equal(parse('a=1', contentType), undefined, contentType)
  }
  t.equal(parseForm(Buffer.from('a=1'), undefined), undefined)
})

t.test('any fields that a browser sends are parsed back', async () => {
  // A browser writes whole characters only.
  const whole = (minLength: number) => fc.string({ unit: 'grapheme', minLength }).map(text => text.toWellFormed())
  const anyFields = fc.dictionary(whole(1), whole(0), { maxKeys: 40, noNullPrototype: true })
  fc.assert(
    fc.property(anyFields, fields => {
      const parsed = parse(new URLSearchParams(fields).toString())
      t.strictSame(Object.entries(parsed ?? {}), Object.entries(fields))
    }),
  )
})

t.test('any bytes are parsed to a form or rejected', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
      const parsed = parseForm(Buffer.from(bytes), type)
      t.ok(parsed === undefined || Object.values(parsed).every(value => value.isWellFormed()))
    }),
  )
})

t.test('a sign-in redirects within this service', async t => {
  const home = 'https://own.example/base'
  const goes = (callbackUrl: string | undefined, to: string) =>
    t.equal(returnAddress(callbackUrl, home), to, String(callbackUrl))
  goes(undefined, 'account')
  goes('device', '/base/device')
  goes('/base/account?done=profile#x', '/base/account?done=profile')
  goes('https://own.example/anything', '/anything')
  const hosts = ['evil.example/', 'own.example.evil.example/', 'own.example//evil.example', 'own.example@evil.example/']
  const paths = ['//evil.example', '/\\evil.example', '\\\\evil.example', ' //evil.example', '/\t/evil.example']
  const others = ['http://own.example/', 'javascript:alert(1)', 'data:text/html,x', 'https://']
  for (const foreign of [...hosts.map(host => `https://${host}`), ...paths, ...others]) goes(foreign, 'account')
})

t.test('no forged address leads elsewhere', async () => {
  const prefixed = fc.tuple(fc.constantFrom('', '//', '/\\'), fc.string()).map(parts => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(fc.webUrl(), prefixed), text => {
      const to = returnAddress(text, 'https://own.example')
      t.equal(new URL(to, 'https://own.example/sign-in').origin, 'https://own.example')
    }),
  )
})

const hourMs = 3_600_000
const visitor = (id: number, sid?: string) => ({ account: { id }, sid }) as SignedIn

t.test('a token is valid for its visitor, for an hour, also from another process', async t => {
  let nowMs = 1_000_000
  const [one, other] = [1, 2].map(() => createFormTokens('s'.repeat(64), () => nowMs))
  const foreign = createFormTokens('x'.repeat(64), () => nowMs)
  if (one === undefined || other === undefined) throw new Error('two were made')
  for (const who of [visitor(1, 'a'), visitor(1)]) {
    const token = one.make(who)
    t.ok(other.isGood(who, token))
    t.notOk(foreign.isGood(who, token))
    for (const others of [visitor(1, 'b'), visitor(2), visitor(2, 'a1')]) t.notOk(other.isGood(others, token))
    const [endsMs = '', digest = ''] = token.split('.')
    for (const made of ['', '.', 'x', digest, `${endsMs}.`, `${Number(endsMs) + 1}.${digest}`, `Infinity.${digest}`]) {
      t.notOk(other.isGood(who, made), made)
    }
    t.notOk(other.isGood(who, undefined))
    nowMs += hourMs - 1
    t.ok(other.isGood(who, token))
    nowMs += 1
    t.notOk(other.isGood(who, token))
  }
})
