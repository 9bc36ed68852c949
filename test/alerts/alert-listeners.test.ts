import { test } from 'tap'
import type { AlertRow } from '../../alerts/core/alert.ts'
import { createAlertListeners } from '../../alerts/store/alerts.ts'
import { recordingLog } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

test('listeners get read changes of alerts, also of other processes', async t => {
  const { log, texts } = recordingLog('warn')
  const applied: ((ids: readonly number[]) => unknown)[] = []
  const asked: number[] = []
  let isAway = false
  const listeners = createAlertListeners({
    feed: { onChange: (kind, apply) => void (kind === 'alert' && applied.push(apply)) },
    log,
    async byIds(ids) {
      asked.push(...ids)
      if (isAway) throw new Error('PostgreSQL is away')
      return ids.map(id => ({ id: String(id) }) as AlertRow)
    },
  })
  listeners.changed([1])
  t.strictSame(asked, [], 'there is no listener')
  const received: string[] = []
  listeners.onAlert(alerts => void received.push(...alerts.map(({ id }) => id)))
  listeners.changed([2, 3])
  for (const apply of applied) apply([4])
  await waitFor('all changes arrive', () => received.join() === '2,3,4')
  isAway = true
  listeners.changed([5])
  await waitFor('it is logged', () => texts.length === 1)
  t.strictSame(received, ['2', '3', '4'])
  await listeners.close()
  listeners.changed([6])
  t.strictSame(asked, [2, 3, 4, 5], 'it is closed')
})
