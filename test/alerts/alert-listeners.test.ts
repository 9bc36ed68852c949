import { test } from 'tap'
import { createAlertListeners } from '../../alerts/alert-listeners.ts'
import type { AlertRow } from '../../alerts/core/alert.ts'
import { recordingLog } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

test('changes of alerts are told as they are read, those of other processes too, and a failed read is logged', async t => {
  const { log, texts } = recordingLog('warn')
  const applied: ((ids: readonly number[]) => unknown)[] = []
  const asked: number[] = []
  let isAway = false
  const told = createAlertListeners({
    feed: { onChange: (kind, apply) => void (kind === 'alert' && applied.push(apply)) },
    log,
    async byIds(ids) {
      asked.push(...ids)
      if (isAway) throw new Error('PostgreSQL is away')
      return ids.map(id => ({ id: String(id) }) as AlertRow)
    },
  })
  told.changed([1])
  t.strictSame(asked, [], 'nobody listens')
  const heard: string[] = []
  told.onAlert(alerts => void heard.push(...alerts.map(({ id }) => id)))
  told.changed([2, 3])
  for (const apply of applied) apply([4])
  await waitFor('all are heard', () => heard.join() === '2,3,4')
  isAway = true
  told.changed([5])
  await waitFor('it is logged', () => texts.length === 1)
  t.strictSame(heard, ['2', '3', '4'])
  await told.close()
  told.changed([6])
  t.strictSame(asked, [2, 3, 4, 5], 'it is closed')
})
