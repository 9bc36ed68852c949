/** Changes by an API that answers problem documents, and in a banner what came of the last one. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { addressOf } from '../client/address.ts'
import { sendChange } from '../client/send-change.ts'
import { Banner } from './banner.tsx'

type Method = 'POST' | 'PATCH' | 'DELETE'
type Done<T> = string | ((answer: T) => string)

export interface Actions {
  isBusy: boolean
  /** Makes a change and reads the list again. Undefined: it was refused, which the section says. `done`: what it says else. */
  change<T>(method: Method, path: string, body: unknown, done: Done<T>): Promise<T | undefined>
  /** What is wrong before anything was sent. */
  refuse(sentence: string): void
}

/** `api`: the path that those of changes are below. */
export function useActions(api: string, refresh: () => void): { actions: Actions; notice: ComponentChildren } {
  const [isBusy, setBusy] = useState(false)
  const [told, setTold] = useState<{ kind: 'note' | 'bad'; text: string }>()
  const actions: Actions = {
    isBusy,
    refuse: text => setTold({ kind: 'bad', text }),
    async change<T>(method: Method, path: string, body: unknown, done: Done<T>) {
      setBusy(true)
      const sent = await sendChange<T>(method, addressOf(`${api}${path}`), body)
      setBusy(false)
      setTold(sent.ok ? { kind: 'note', text: textOf(done, sent.value) } : { kind: 'bad', text: sent.sentence })
      // A refusal may mean that the list is not what it was.
      refresh()
      return sent.ok ? (sent.value ?? ({} as T)) : undefined
    },
  }
  const notice =
    told === undefined ? null : (
      <Banner kind={told.kind} onDismiss={() => setTold(undefined)}>
        {told.text}
      </Banner>
    )
  return { actions, notice }
}

function textOf<T>(done: Done<T>, answer: T): string {
  return typeof done === 'string' ? done : done(answer)
}
