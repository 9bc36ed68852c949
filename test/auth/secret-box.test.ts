/** Encryption at rest: what is sealed comes back for its row alone. */

import t from 'tap'
import { createSecretBox } from '../../auth/secret-box.ts'

t.test('a secret is opened with its key, for its context, unchanged, and in no other way', async t => {
  const box = createSecretBox('k'.repeat(64), 'test')
  const sealed = box.seal('Geheimnis ✓', 'tenant 7')
  t.equal(box.open(sealed, 'tenant 7'), 'Geheimnis ✓')
  t.notMatch(sealed.toString('latin1'), 'Geheimnis')
  t.notSame(box.seal('Geheimnis ✓', 'tenant 7'), sealed, 'each time in another way')
  t.throws(() => box.open(sealed, 'tenant 8'))
  t.throws(() => createSecretBox('x'.repeat(64), 'test').open(sealed, 'tenant 7'))
  t.throws(() => createSecretBox('k'.repeat(64), 'other').open(sealed, 'tenant 7'))
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.throws(() => box.open(changed, 'tenant 7'), `byte ${at}`)
  }
  for (const length of [0, 11, 12, 27, sealed.length - 1]) {
    t.throws(() => box.open(sealed.subarray(0, length), 'tenant 7'), `${length} bytes`)
  }
})
