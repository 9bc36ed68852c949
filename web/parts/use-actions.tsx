/** Sends changes to an API with problem documents and shows the last result in a banner. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { addressOf } from '../client/address.ts'
import { sendChange } from '../client/send-change.ts'
import { Banner } from './loading.tsx'

type Method = 'POST' | 'PATCH' | 'DELETE'
type Done<T> = string | ((answer: T) => string)

export interface Actions {
  isBusy: boolean
  /**
   * Sends a change and reads the list again. Undefined: refused, as the banner explains. `done` is the text after
   * success.
   */
  change<T>(method: Method, path: string, body: unknown, done: Done<T>): Promise<T | undefined>
  /** Reads the list again. */
  refresh(): void
  /** Shows an error found before sending. */
  refuse(sentence: string): void
}

/** `api` is the common path of all changes. */
export function useActions(api: string, refresh: () => void): { actions: Actions; notice: ComponentChildren } {
  const [isBusy, setBusy] = useState(false)
  const [message, setMessage] = useState<{ kind: 'note' | 'bad'; text: string }>()
  const actions: Actions = {
    isBusy,
    refresh,
    refuse: text => setMessage({ kind: 'bad', text }),
    async change<T>(method: Method, path: string, body: unknown, done: Done<T>) {
      setBusy(true)
      const sent = await sendChange<T>(method, addressOf(`${api}${path}`), body)
      setBusy(false)
      setMessage(sent.ok ? { kind: 'note', text: textOf(done, sent.value) } : { kind: 'bad', text: sent.sentence })
      // A refusal may mean that the list is outdated.
      refresh()
      return sent.ok ? (sent.value ?? ({} as T)) : undefined
    },
  }
  const notice =
    message === undefined ? null : (
      <Banner kind={message.kind} onDismiss={() => setMessage(undefined)}>
        {message.text}
      </Banner>
    )
  return { actions, notice }
}

function textOf<T>(done: Done<T>, answer: T): string {
  return typeof done === 'string' ? done : done(answer)
}
