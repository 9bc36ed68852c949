/** Sessions of one name, here and at other nodes. */

import { test } from 'tap'
import type { SessionNotices } from '../../../auth/nodes/session-notices.ts'
import { NamedSessions } from '../../../ingest/mqtt/listener.ts'

class Session {
  readonly ends: string[] = []
  close(reason: string): void {
    this.ends.push(reason)
  }
}

test('a session at another node ends an older one here, and no younger one', async t => {
  const told: string[] = []
  let hear: (name: string, agoMs: number) => void = () => undefined
  const notices: SessionNotices = {
    nameOf: text => `hash of ${text}`,
    begun: name => void told.push(name),
    onBegun: listener => {
      hear = listener
    },
  }
  const sessions = new NamedSessions<Session>(notices)
  const [first, second, foreign] = [new Session(), new Session(), new Session()]
  sessions.opened(first, 'a')
  sessions.opened(foreign, 'b')
  t.strictSame(told, ['hash of a', 'hash of b'])
  hear('hash of a', 60_000)
  hear('hash of nobody', -1)
  t.strictSame([first.ends, foreign.ends], [[], []], 'it began before this one')
  hear('hash of a', -1)
  t.strictSame([first.ends, foreign.ends], [['taken_over'], []])
  sessions.opened(second, 'a')
  t.equal(first.ends.length, 2, 'one that has not closed yet')
  sessions.closed(first)
  hear('hash of a', -1)
  t.strictSame(second.ends, ['taken_over'], 'the end of the older one leaves the younger one its name')
  sessions.closed(second)
  hear('hash of a', -1)
  t.equal(second.ends.length, 1)
})
