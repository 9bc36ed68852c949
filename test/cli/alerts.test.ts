/** `barograph alerts` against a real service. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const service = await startService(t, { environment: withoutQuestdb })
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const run = (...words: string[]) => barograph(['alerts', ...words], { environment })
const json = async (...words: string[]) => JSON.parse((await run(...words, '--json')).stdout)
const folder = temporaryFolder(t)

t.test('channels are added, listed, changed and removed, and their addresses are not shown', async t => {
  t.match(await run('channels', 'list'), { status: 0, stdout: 'no channels\n' })
  const added = await run('channels', 'add', 'hook', 'webhook', 'https://example.com/secret')
  t.match(added, { status: 0, stdout: /^id +1\n[\s\S]*\nSecret, shown only once:\nwhsec_/ })
  t.match(await json('channels', 'add', 'on-call', 'email', 'ada@example.com'), { id: 2, kind: 'email', owner: null })
  const chat = ['alerts', 'channels', 'add', 'chat', 'slack', '-']
  t.match(await barograph(chat, { environment, stdin: 'https://example.com/services/T1\n' }), { status: 0 })
  const list = (await run('channels', 'list')).stdout
  t.match(list, /^1 +- +webhook +enabled +hook +example\.com$/m)
  t.notMatch(list, 'secret')
  t.match(await json('channels', 'set', '2', '--name', 'phone', '--disable'), { name: 'phone', enabled: false })
  t.match(await json('channels', 'rotate', '1'), { secret: /^whsec_/ })
  t.match(await run('channels', 'remove', '3'), { status: 0, stdout: 'removed channel 3\n' })
  t.match(await run('channels', 'set', '2'), { status: 2, stderr: /nothing to change/ })
  t.match(await run('channels', 'set', '9', '--enable'), { status: 1, stderr: 'barograph: channel unknown\n' })
  t.match(await run('channels', 'add', 'x', 'pager', 'y'), { status: 2, stderr: /webhook, email/ })
  t.match(await run('channels', 'add', 'x', 'webhook', 'http://127.0.0.1/'), { status: 1 })
})

const condition = '{"kind":"above","metric":"temperature","value":-15,"hysteresis":1}'

t.test('rules are added, listed, changed and removed', async t => {
  t.match(await run('rules', 'list'), { status: 0, stdout: 'no rules\n' })
  const words = [
    '--condition',
    condition,
    '--device',
    'freezer',
    '--for',
    '10m',
    '--severity',
    'critical',
    '--channel',
    '1',
    '--channel',
    '2',
  ]
  t.match(await json('rules', 'add', 'Freezer', ...words), {
    id: 1,
    owner: null,
    selector: { devices: ['freezer'] },
    condition: JSON.parse(condition),
    for_seconds: 600,
    severity: 'critical',
    channels: [1, 2],
  })
  t.match(await json('rules', 'add', 'Silent', '--condition', '{"kind":"silent"}', '--tag', 'site:berlin', 'room:*'), {
    selector: { tags: ['site:berlin', 'room:*'] },
  })
  t.match((await run('rules', 'list')).stdout, /^1 +- +critical +yes +1 2 +Freezer +\{"kind":"above"/m)
  t.match(await json('rules', 'set', '1', '--disable', '--no-channels', '--keep-firing', '1h'), {
    enabled: false,
    channels: [],
    keep_firing_seconds: 3600,
  })
  t.match(await json('rules', 'set', '1', '--enable', '--group-by', 'site'), { enabled: true, group_by: 'site' })
  t.match(await json('rules', 'set', '1', '--group-by', 'none'), { group_by: null })
  t.match(await run('rules', 'remove', '2'), { status: 0, stdout: 'removed rule 2\n' })
  t.match(await run('rules', 'remove', '2'), { status: 1, stderr: 'barograph: rule unknown\n' })
  t.match(await run('rules', 'add', 'x', '--condition', '{"kind":"above"}', '--all'), {
    status: 1,
    stderr: /condition\.metric/,
  })
  t.match(await run('rules', 'add', 'x', '--condition', 'hot', '--all'), { status: 2, stderr: /JSON object/ })
  t.match(await run('rules', 'add', 'x', '--for', 'soon'), { status: 2, stderr: /duration/ })
  t.match(await run('rules', 'set', '1'), { status: 2, stderr: /nothing to change/ })
})

t.test('rules are exported and imported, and the same file changes nothing', async t => {
  await run('rules', 'set', '1', '--channel', '1')
  const file = join(folder, 'rules.json')
  t.match(await run('export', '--output', file), { status: 0, stdout: '' })
  t.equal((await run('export')).stdout, readFileSync(file, 'utf8'))
  t.match(await run('import', file), { status: 0, stdout: '0 added, 0 changed, 1 unchanged, 0 removed\n' })
  const rules = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...rules, rules: [{ ...rules.rules[0], name: 'Freezer 2' }] }))
  t.match(await json('import', file, '--prune'), { added: 1, changed: 0, unchanged: 0, removed: 1 })
  t.match(await run('import', join(folder, 'none.json')), { status: 1, stderr: /cannot be read/ })
  writeFileSync(file, '[]')
  t.match(await run('import', file), { status: 1, stderr: /is no JSON object/ })
})

t.test('silences are added, listed and removed', async t => {
  t.match(await run('silences', 'list'), { status: 0, stdout: 'no silences\n' })
  t.match(await json('silences', 'add', '--device', 'freezer', '--for', '2h', '--reason', 'defrosting'), {
    id: 1,
    selector: { devices: ['freezer'] },
    reason: 'defrosting',
    is_active: true,
  })
  const weekly = '[{"days":[6,7],"from":"22:00","until":"06:00"}]'
  t.match(await json('silences', 'add', '--all', '--weekly', weekly), { until: null, weekly: JSON.parse(weekly) })
  t.match((await run('silences', 'list')).stdout, /^1 +yes .* defrosting$/m)
  t.match(await run('silences', 'remove', '1'), { status: 0, stdout: 'removed silence 1\n' })
  t.match(await run('silences', 'add', '--for', '2h'), { status: 2, stderr: /--device, --tag or --all/ })
  t.match(await run('silences', 'add', '--all', '--weekly', '{}'), { status: 2, stderr: /JSON array/ })
})

t.test('alerts and notifications are listed', async t => {
  t.match(await run('list', '--state', 'firing', '--tag', 'site:berlin'), { status: 0, stdout: 'no alerts\n' })
  t.strictSame(await json('list'), [])
  t.match(await run('show', '7'), { status: 1, stderr: 'barograph: alert unknown\n' })
  t.match(await run('acknowledge', 'x'), { status: 2, stderr: /whole number/ })
  t.match(await run('deliveries', 'list', '--state', 'waiting'), { status: 0, stdout: 'no notifications\n' })
  t.match(await run('deliveries', 'replay', '7'), { status: 1, stderr: 'barograph: delivery unknown\n' })
})
