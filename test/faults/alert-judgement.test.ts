/** The judgement of alerts finds each fault. */

import { test } from 'tap'
import { faultsIn } from './alert-judgement.ts'
import { faultsOf, type ToldDevice } from './alertmanager-receiver.ts'
import type { ToldNotification } from './receiver.ts'

/** `told` as `1 firing, 2 resolved`. */
function notification(second: number, type: ToldNotification['type'], told: string): ToldNotification {
  const alerts = told.split(', ').map(text => {
    const [id = '', state] = text.split(' ')
    return { id, state } as ToldNotification['alerts'][number]
  })
  return { webhookId: `msg_${second}`, type, timestamp: new Date(second * 1000).toISOString(), alerts }
}

test('what is told once, with its end, is right in whatever order it comes', async t => {
  const told = [
    notification(3, 'alert.resolved', '1 resolved, 2 firing'),
    notification(1, 'alert.firing', '1 firing'),
    notification(2, 'alert.firing', '2 firing, 1 firing'),
    notification(4, 'alert.resolved', '2 resolved'),
  ]
  t.strictSame(faultsIn(told, 2), [])
})

test('what is missed, told twice or ended twice is found', async t => {
  const first = notification(1, 'alert.firing', '1 firing')
  const last = notification(3, 'alert.resolved', '1 resolved')
  t.strictSame(faultsIn([first, last], 2), ['alerts: 1 told in place of 2', 'alerts: the end of 1 told in place of 2'])
  t.strictSame(faultsIn([first, notification(2, 'alert.firing', '1 firing'), last], 1), [
    'alerts: told twice, again by msg_2',
  ])
  t.strictSame(faultsIn([first, last, notification(4, 'alert.resolved', '1 resolved')], 1), ['alerts: 1 ends twice'])
})

test('of many devices each fault is found by its name', async t => {
  const device = (starts: string[], ends: string[], revived = 0): ToldDevice => {
    return { starts: new Set(starts), ends: new Set(ends), revived }
  }
  const told = new Map([
    ['right', device(['1'], ['1 2'])],
    ['stranger', device(['1'], ['1 2'])],
    ['twice', device(['1', '3'], ['1 2'])],
    ['endless', device(['1'], [])],
    ['ended twice', device(['1'], ['1 2', '1 3'])],
    ['back', device(['1'], ['1 2'], 1)],
  ])
  t.strictSame(faultsOf(told, ['right', 'stranger', 'twice', 'endless', 'ended twice', 'back']), [
    'alerts: told twice, 1 devices: twice',
    'alerts: end missed, 1 devices: endless',
    'alerts: ended twice, 1 devices: ended twice',
    'alerts: undead, 1 devices: back',
  ])
  t.strictSame(faultsOf(new Map([['stranger', device(['1'], ['1 2'])]]), ['one', 'other']), [
    'alerts: missed, 2 devices: one',
    'alerts: phantom, 1 devices: stranger',
    'alerts: end missed, 2 devices: one',
  ])
})
