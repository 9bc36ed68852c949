/** Secrets: codes of device authorization, texts of API keys, encryption at rest, and passwords with the limits of concurrent checks. */

import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { hash as argon2Hash } from '@node-rs/argon2'
import fc from 'fast-check'
import t from 'tap'
import { isCommonPassword } from '../../auth/accounts/common-passwords.ts'
import { createPasswords } from '../../auth/accounts/passwords.ts'
import {
  createDeviceCode,
  createUserCode,
  formatUserCode,
  isDeviceCode,
  parseUserCode,
} from '../../auth/grants/grant.ts'
import { createKeyText, createKeyTextLike, digestOf, isKeyText, prefixOf } from '../../auth/keys/key-text.ts'
import { createSecretBox } from '../../auth/secret-box.ts'
import { TooBusy } from '../../auth/too-busy.ts'
import type { Asker } from '../../store/limits/semaphore.ts'
import { closing } from '../support/databases.ts'
import { runs } from '../support/runs.ts'

const consonants = 'BCDFGHJKLMNPQRSTVWXZ'

t.test('user codes are eight consonants, all equally likely', async t => {
  const codes = Array.from({ length: 20_000 }, createUserCode)
  t.ok(codes.every(code => code.length === 8))
  const counts = new Map<string, number>()
  for (const letter of codes.join('')) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  t.strictSame([...counts.keys()].sort().join(''), consonants)
  // 8,000 of each are expected. Six standard deviations are 524.
  for (const [letter, count] of counts) t.ok(Math.abs(count - 8_000) < 524, `${letter}: ${count}`)
})

t.test('a user code is accepted in any spelling', async t => {
  const letter = fc.constantFrom(...consonants)
  const noise = fc.array(fc.constantFrom('-', ' ', '\u00a0'), { maxLength: 3 }).map(parts => parts.join(''))
  const typed = fc.array(fc.tuple(letter, fc.boolean(), noise), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(typed, noise, (letters, before) => {
      const code = letters.map(([letter]) => letter).join('')
      const text = letters.map(([letter, isSmall, after]) => `${isSmall ? letter.toLowerCase() : letter}${after}`)
      return parseUserCode(`${before}${text.join('')}`) === code && parseUserCode(formatUserCode(code)) === code
    }),
  )
  for (const text of ['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ACDF-GHJK', 'BCDF-GHJ1', 'ſSSS-SSSS', 'ßBBB-BBB']) {
    t.equal(parseUserCode(text), undefined, text)
  }
})

t.test('device codes have 256 bits', async t => {
  const codes = Array.from({ length: 100 }, createDeviceCode)
  t.equal(new Set(codes).size, 100)
  for (const code of codes) t.ok(isDeviceCode(code) && Buffer.from(code, 'base64url').length === 32)
  for (const text of ['', 'abc', `${codes[0]}A`, `${codes[0]}\n`, 'ä'.repeat(43)]) t.notOk(isDeviceCode(text))
})

t.test('a key has its form, with the CRC-32 of its text, and is unique', async t => {
  const texts = Array.from({ length: 1000 }, createKeyText)
  for (const text of texts) if (!/^barograph_key_[0-9A-Za-z]{49}$/.test(text) || !isKeyText(text)) t.fail(text)
  t.equal(new Set(texts).size, texts.length)
  const before = `barograph_key_${'0'.repeat(42)}1`
  t.equal(isKeyText(`${before}${crc32InBase62(before)}`), true)
  t.equal(isKeyText(`${before}${crc32InBase62(before.slice(14))}`), false)
})

t.test('a key with one mistyped character is rejected', async t => {
  const text = createKeyText()
  const place = fc.integer({ min: 0, max: text.length - 1 })
  const property = fc.property(place, fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
    fc.pre(text[at] !== character)
    return !isKeyText(`${text.slice(0, at)}${character}${text.slice(at + 1)}`)
  })
  fc.assert(property, runs(300, 3000))
  for (const other of ['', text.slice(1), `${text}0`, ` ${text}`, `${text}\n`, text.toUpperCase(), text.repeat(1000)]) {
    t.equal(isKeyText(other), false, other.slice(0, 80))
  }
})

t.test('a key is stored as SHA-256 and shown by eight characters, which keys may share', async t => {
  const text = createKeyText()
  t.equal(prefixOf(text), text.slice(0, 'barograph_key_'.length + 8))
  t.strictSame(digestOf(text), hash('sha256', text, 'buffer'))
  const prefix = prefixOf(createKeyText())
  const texts = Array.from({ length: 1000 }, () => createKeyTextLike(prefix))
  for (const text of texts) if (!isKeyText(text) || prefixOf(text) !== prefix) t.fail(text)
  t.equal(new Set(texts.map(text => text.slice(prefix.length, -6))).size, texts.length)
})

/** The checksum of zlib in the 62 digits of a key. */
function crc32InBase62(text: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let rest = crc32(text)
  let result = ''
  for (let at = 0; at < 6; at++) {
    result = `${digits[rest % 62]}${result}`
    rest = Math.floor(rest / 62)
  }
  return result
}

t.test('a secret opens only unchanged, with its key and its context', async t => {
  const box = createSecretBox('k'.repeat(64), 'test')
  const sealed = box.seal('Geheimnis ✓', 'tenant 7')
  t.equal(box.open(sealed, 'tenant 7'), 'Geheimnis ✓')
  t.notMatch(sealed.toString('latin1'), 'Geheimnis')
  t.notSame(box.seal('Geheimnis ✓', 'tenant 7'), sealed, 'each time in another way')
  t.throws(() => box.open(sealed, 'tenant 8'))
  t.throws(() => createSecretBox('x'.repeat(64), 'test').open(sealed, 'tenant 7'))
  t.throws(() => createSecretBox('k'.repeat(64), 'other').open(sealed, 'tenant 7'))
  for (let at = 0; at < sealed.length; at += 7) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.throws(() => box.open(changed, 'tenant 7'), `byte ${at}`)
  }
  for (const length of [0, 11, 12, 27, sealed.length - 1]) {
    t.throws(() => box.open(sealed.subarray(0, length), 'tenant 7'), `${length} bytes`)
  }
})

const asker = { account: 'ada@example.com', network: '10.0.0.1' }

t.test('a password is an Argon2id hash in PHC form', async t => {
  const passwords = closing(t, createPasswords())
  const verify = (known: string | undefined, password: string) =>
    passwords.attempt(asker, verify => verify(known, password))
  const known = await passwords.hash('Ku\u0308che 🔑', asker)
  t.match(known, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.equal(await verify(known, 'K\u00fcche 🔑'), true, 'however the keyboard composes it')
  t.equal(await verify(known, 'k\u00fcche 🔑'), false)
  t.equal(await verify(undefined, 'no account has this password'), false)
  t.equal(passwords.isOutdated(known), false)
  t.equal(passwords.isOutdated(await argon2Hash('x', { memoryCost: 8192, timeCost: 1 })), true)
})

t.test('a check without a hash has the same parameters as others, and fails', async t => {
  const compared: string[] = []
  const verify = async (known: string) => compared.push(known) > 0
  const passwords = createPasswords({ hash: async () => '', verify, close: async () => undefined })
  t.equal(await passwords.attempt(asker, verify => verify(undefined, 'a password')), false)
  t.match(compared, [/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/])
})

/** Starts checks of passwords that end one by one. `started` lists them in order. */
function startChecks() {
  const noHash = async () => ''
  const passwords = createPasswords({ hash: noHash, verify: async () => true, close: async () => undefined })
  const running: (() => void)[] = []
  const started: Asker[] = []
  let most = 0
  const work = (asker: Asker) => async () => {
    started.push(asker)
    await new Promise<void>(end => {
      most = Math.max(most, running.push(end))
    })
    return 'done'
  }
  const run = (asker: Asker) =>
    passwords.attempt(asker, work(asker)).catch((error: unknown) => {
      return error instanceof TooBusy && error.retryAfterSeconds === 1 ? 'busy' : error
    })
  /** Returns the outcomes, once all have ended. */
  async function end(asked: Promise<unknown>[]): Promise<unknown[]> {
    let isOver = false
    const outcomes = Promise.all(asked).finally(() => {
      isOver = true
    })
    while (!isOver) {
      running.shift()?.()
      await new Promise(setImmediate)
    }
    return await outcomes
  }
  return { run, end, started, most: () => most }
}

t.test('two checks run at once, with a short queue', async t => {
  const { run, end, started, most } = startChecks()
  const askers = Array.from({ length: 40 }, (_, at) => ({ account: `a${at}`, network: `n${at}` }))
  const outcomes = await end(askers.map(run))
  t.strictSame(outcomes, [...Array(34).fill('done'), ...Array(6).fill('busy')])
  t.strictSame(started, askers.slice(0, 34), 'in their order')
  t.equal(most(), 2)
})

t.test('one check of an account and a network runs at a time, without a delay of others', async t => {
  const { run, end, started } = startChecks()
  const [ada, eve] = [asker, { ...asker, network: '10.0.0.2' }]
  const asked = [run(ada), run(ada), run(ada), run(eve)]
  await new Promise(setImmediate)
  t.strictSame(started, [ada, eve])
  t.strictSame(await end(asked), ['done', 'done', 'done', 'done'])
})

const askersOf = (count: number, account: (at: number) => string, network: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => ({ account: account(at), network: network(at) }))
const others = (count: number) =>
  askersOf(
    count,
    at => `other ${at}`,
    at => `m${at}`,
  )
const victim = () => 'victim'
const each = (at: number) => `n${at}`
const attacks: Record<string, [attack: Asker[], others: Asker[], done: number]> = {
  'an account': [askersOf(60, victim, each), others(16), 18],
  'a network': [askersOf(200, each, victim), others(6), 28],
  'four networks': [askersOf(200, each, at => `n${at % 4}`), others(6), 28],
  'an account in four networks': [askersOf(60, victim, at => `n${at % 4}`), askersOf(6, victim, at => `m${at}`), 12],
}

for (const [name, [attack, others, done]] of Object.entries(attacks)) {
  t.test(`${name} under attack leaves capacity for others`, async t => {
    const { run, end } = startChecks()
    const attacking = attack.map(run)
    t.strictSame(await end(others.map(run)), Array(others.length).fill('done'))
    t.equal((await end(attacking)).filter(outcome => outcome === 'done').length, done)
  })
}

t.test('common passwords are recognized in any letter case', async t => {
  for (const password of ['password', 'PassWord', '12345678', 'iloveyou']) t.ok(isCommonPassword(password), password)
  t.notOk(isCommonPassword('correct horse battery'))
})
