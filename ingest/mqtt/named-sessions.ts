/** By credential and client identifier: of two sessions with the same, the later one stays (MQTT 3.1.1 and 5, 3.1.4). */

import type { SessionNotices } from '../../auth/nodes/session-notices.ts'

interface Named {
  name: string
  openedAtMs: number
}

interface Closable {
  close(reason: 'taken_over'): void
}

export class NamedSessions<Session extends Closable> {
  readonly #notices: SessionNotices | undefined
  readonly #sessions = new Map<string, Session>()
  readonly #named = new Map<Session, Named>()

  /** With `notices`, other nodes have sessions, too. */
  constructor(notices: SessionNotices | undefined) {
    this.#notices = notices
    notices?.onBegun((name, agoMs) => this.#closeOlder(name, agoMs))
  }

  opened(session: Session, text: string): void {
    const name = this.#notices?.nameOf(text) ?? text
    this.#sessions.get(name)?.close('taken_over')
    this.#sessions.set(name, session)
    this.#named.set(session, { name, openedAtMs: performance.now() })
    this.#notices?.begun(name)
  }

  closed(session: Session): void {
    const name = this.#named.get(session)?.name
    this.#named.delete(session)
    if (name !== undefined && this.#sessions.get(name) === session) this.#sessions.delete(name)
  }

  #closeOlder(name: string, agoMs: number): void {
    const session = this.#sessions.get(name)
    const openedAtMs = session && this.#named.get(session)?.openedAtMs
    if (openedAtMs !== undefined && performance.now() - openedAtMs > agoMs) session?.close('taken_over')
  }
}
