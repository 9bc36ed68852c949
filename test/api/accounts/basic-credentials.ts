/** The parser of a device's Basic header accepts only well-formed headers. */

import fc from 'fast-check'
import t from 'tap'
import { readBasicCredentials } from '../../../api/http/credentials.ts'

const encode = (text: string | Buffer) => Buffer.from(text as string).toString('base64')
const read = (...values: string[]) => readBasicCredentials(values.flatMap(value => ['Authorization', value]))

t.test('one well-formed header returns the name and the password', async t => {
  const kitchen = { name: 'kitchen', password: 'a1' }
  t.strictSame(read(`Basic ${encode('kitchen:a1')}`), kitchen)
  t.strictSame(read(`bAsIc   ${encode('kitchen:a1')}`), kitchen, 'the scheme has no case')
  t.strictSame(readBasicCredentials(['Host', 'x', 'aUTHORIZATION', `Basic ${encode('kitchen:a1')}`]), kitchen)
  t.strictSame(read(`Basic ${encode('Küche:a:b:')}`), { name: 'Küche', password: 'a:b:' }, 'the first colon splits')
  t.strictSame(read(`Basic ${encode(':')}`), { name: '', password: '' })
  t.strictSame(read(`Basic ${encode('\ufeffa:b')}`), { name: '\ufeffa', password: 'b' }, 'nothing is dropped')
})

t.test('any other header is rejected', async t => {
  const good = encode('kitchen:a1')
  const rejects = (message: string, ...values: string[]) => t.equal(read(...values), undefined, message)
  rejects('no header')
  rejects('two headers', `Basic ${good}`, `Basic ${good}`)
  rejects('another scheme', `Bearer ${good}`)
  rejects('no scheme', good)
  rejects('no space', `Basic${good}`)
  rejects('a tab', `Basic\t${good}`)
  rejects('nothing behind the scheme', 'Basic ')
  rejects('no colon', `Basic ${encode('kitchen')}`)
  rejects('no padding', `Basic ${encode('kitchen:ab').replaceAll('=', '')}`)
  rejects('padding too much', `Basic ${good}=`)
  rejects('spare bits', 'Basic YTpiYx==')
  rejects(
    'the alphabet of URLs',
    `Basic ${encode(Buffer.from('fb3aff', 'hex')).replaceAll('+', '-').replaceAll('/', '_')}`,
  )
  rejects('text behind it', `Basic ${good} x`)
  rejects('a line break in it', `Basic ${good.slice(0, 4)}\n${good.slice(4)}`)
  rejects('no UTF-8', `Basic ${encode(Buffer.from('ff3a61', 'hex'))}`)
  rejects('a surrogate in UTF-8', `Basic ${encode(Buffer.from('eda0803a61', 'hex'))}`)
  rejects('too long', `Basic ${encode(`a:${'b'.repeat(800)}`)}`)
})

t.test('every name without a colon and every password are returned unchanged', async () => {
  const name = fc.string({ unit: 'binary', maxLength: 64 }).map(text => text.replaceAll(':', ''))
  fc.assert(
    fc.property(name, fc.string({ unit: 'binary', maxLength: 64 }), (name, password) => {
      const credentials = read(`Basic ${encode(`${name}:${password}`)}`)
      return credentials?.name === name && credentials.password === password
    }),
    { numRuns: 500 },
  )
})

t.test('any bytes are parsed without an exception to the encoded credential or none', async () => {
  const header = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 1100 }),
    fc.uint8Array({ maxLength: 100 }).map(bytes => `Basic ${encode(Buffer.from(bytes))}`),
    fc.base64String({ maxLength: 60 }).map(text => `basic ${text}`),
  )
  fc.assert(
    fc.property(fc.array(header, { maxLength: 3 }), values => {
      const credentials = read(...values)
      if (credentials === undefined) return true
      const [value = ''] = values
      const sent = encode(`${credentials.name}:${credentials.password}`)
      return values.length === 1 && /^basic +/i.test(value) && value.replace(/^basic +/i, '') === sent
    }),
    { numRuns: 1000 },
  )
})
