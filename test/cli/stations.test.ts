/** `barograph stations` against a real service, whose stations its API then shows. */

import t from 'tap'
import { barograph } from '../support/command-line.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const service = await startService(t, { environment: withoutQuestdb })
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const run = (...words: string[]) => barograph(words, { environment })
const json = async (...words: string[]) => JSON.parse((await run(...words, '--json')).stdout)

t.test('stations are added, listed, changed and removed', async t => {
  t.match(await run('stations', 'list'), { status: 0, stdout: 'no stations\n' })
  const words = ['--city', 'Delhi', '--country', 'in', '--latitude', '28.6257', '--longitude', '-77', '--outdoors']
  const added = await run('stations', 'add', 'IN-1', 'M4', ...words, '--private')
  t.match(added, { status: 0, stdout: /^sn +IN-1\nmodel +M4\ncity +Delhi\ncountry +IN\n/, stderr: '' })
  t.match(await json('stations', 'add', 'IN-2', 'M4', '--timezone', 'Asia/Kolkata'), {
    sn: 'IN-2',
    timezone: 'Asia/Kolkata',
    outdoors: null,
    private: false,
    owner: null,
  })
  t.strictSame((await run('stations', 'list')).stdout.split('\n'), [
    'sn    model  city   private  last data',
    'IN-1  M4     Delhi  yes      never',
    'IN-2  M4     -      no       never',
    '',
  ])
  const found = await json('stations', 'list', '--search', 'DELHI')
  t.match(found, [{ sn: 'IN-1', latitude: 28.6257, longitude: -77, outdoors: true, private: true }])
  const set = ['--city', '', '--no-private', '--no-outdoors', '--model', 'M5']
  t.match(await json('stations', 'set', 'IN-1', ...set), { model: 'M5', city: null, private: false, outdoors: false })
  t.match(await run('stations', 'remove', 'IN-1'), { status: 0, stdout: /^removed IN-1; its points/ })
  t.match(JSON.parse((await run('stations', 'remove', 'IN-1', '--report', '--json')).stdout), {
    sn: 'IN-1',
    error: null,
  })
  t.match(await json('stations', 'remove', 'IN-2'), { removed: 'IN-2' })
  t.match(await run('stations', 'list'), { stdout: 'no stations\n' })
})

t.test('what cannot be done is told in a sentence', async t => {
  t.match(await run('stations', 'set', 'IN-9', '--city', 'x'), { status: 1, stderr: 'barograph: station unknown\n' })
  t.match(await run('stations', 'set', 'IN-9'), { status: 2, stderr: /nothing to change/ })
  t.match(await run('stations', 'set', '..', '--city', 'x'), { status: 2, stderr: /is not a valid sn/ })
  t.match(await run('stations', 'set', 'IN-9', '--model', ''), { status: 2, stderr: /Expected a text/ })
  const bad = await run('stations', 'add', '-', 'M4', '--owner', 'nobody@example.com')
  t.match(bad, { status: 1, stderr: /sn: must be 1 to 64/ })
  await run('stations', 'add', 'IN-3', 'M4')
  t.match(await run('stations', 'add', 'IN-3', 'M4'), { status: 1, stderr: /sn: is taken by another station/ })
  const nobody = await run('stations', 'set', 'IN-3', '--owner', 'nobody@example.com')
  t.match(nobody, { status: 1, stderr: /owner: is no account/ })
})
