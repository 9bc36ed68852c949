/** Text without regard to case. */

import { test } from 'tap'
import { foldCase, moduleDigest } from '../../../query/content/fold-case.ts'

test('letters of any alphabet count the same in both cases', async t => {
  const pairs = ['Lecture lecture', 'ÜBUNG übung', 'ЛЕКЦИЯ лекция', 'ΟΔΟΣ οδος', 'οδοσ οδος', 'Straße STRASSE', 'ﬁ FI']
  for (const pair of [...pairs, 'K k', 'ſ s', 'ẞ ß', '𐐀 𐐨', 'Ǆ ǅ']) {
    const [a = '', b = ''] = pair.split(' ')
    t.equal(foldCase(a), foldCase(b), pair)
    t.strictSame(moduleDigest(a), moduleDigest(b), pair)
  }
  t.not(foldCase('é'), foldCase('e'))
  t.not(foldCase('a b'), foldCase('ab'))
  t.equal(moduleDigest('block-v1:x').length, 16)
  t.notSame(moduleDigest('block-v1:x'), moduleDigest('block-v1:y'))
})
