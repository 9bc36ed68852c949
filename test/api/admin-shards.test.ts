/** The status of a service with several shards. */

import t from 'tap'
import type { Status } from '../../api/admin/status-answer.ts'
import { startAdmin } from '../support/admin.ts'

const up = { managed: true, state: () => ({ state: 'up' as const }), version: () => '9.0', commitMode: () => 'sync' }
const none = () => undefined
const away = {
  managed: false,
  state: () => ({ state: 'away' as const, reason: 'it is away' }),
  version: none,
  commitMode: none,
}

t.test('the status tells of the QuestDB of each shard, where there are several', async t => {
  const shards = [
    { number: 1, questdb: up },
    { number: 2, questdb: away },
  ]
  const { ask } = await startAdmin(t, { shards })
  const { body } = (await ask('GET', '/status')) as { body: Status }
  t.strictSame(body.shards, [
    { number: 1, kind: 'own', state: 'up', reason: null, version: '9.0', commit_mode: 'sync' },
    { number: 2, kind: 'given', state: 'away', reason: 'it is away', version: null, commit_mode: null },
  ])
})

t.test('one alone is not told of twice', async t => {
  const { ask } = await startAdmin(t, { shards: [{ number: 1, questdb: up }] })
  const { body } = (await ask('GET', '/status')) as { body: Status }
  t.notOk('shards' in body)
  t.equal(body.questdb.state, 'away', 'of the store')
})
