/** Names in the environment that are nearly those of settings. */

import t from 'tap'
import { editDistance, misspeltSettings } from '../../../service/settings/misspelt-settings.ts'
import { Settings } from '../../../service/settings/settings.ts'

t.test('a letter too many, too few, wrong or swapped is found, without the value', async t => {
  const wrong = ['PROT', 'DATADIR', 'QUESTB_HTTP', 'RETENTION_DAY', 'Port', 'SMTP_URI']
  const meant = ['PORT', 'DATA_DIR', 'QUESTDB_HTTP', 'RETENTION_DAYS', 'PORT', 'SMTP_URL']
  const found = misspeltSettings(Object.fromEntries(wrong.map(name => [name, 'http://a:secret@b'])))
  const expected = wrong.map((name, at) => ({ name, meant: meant[at] }))
  t.strictSame(found, expected)
})

t.test('settings, empty variables and those of other programs are left alone', async t => {
  const settings = Object.fromEntries(Object.keys(Settings.shape).map(name => [name, 'x']))
  const others = 'HOME PATH USER LANG TERM PWD TZ HOSTNAME SHELL NODE_OPTIONS MAIL SHLVL'.split(' ')
  const foreign = Object.fromEntries(others.map(name => [name, 'x']))
  t.strictSame(misspeltSettings({ ...settings, ...foreign, PROT: '', PROTS: undefined, ['P'.repeat(10_000)]: 'x' }), [])
})

t.test('the distance of two names', async t => {
  const cases = [
    ['', '', 0],
    ['a', '', 1],
    ['PROT', 'PORT', 1],
    ['kitten', 'sitting', 3],
    ['ab', 'ba', 1],
  ] as const
  for (const [one, other, distance] of cases) {
    t.equal(editDistance(one, other), distance, `${one} ${other}`)
    t.equal(editDistance(other, one), distance)
  }
})
