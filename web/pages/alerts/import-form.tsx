/** Rules and channels of a file: the same file twice changes nothing. */

import { useRef } from 'preact/hooks'
import type { Actions } from '../../parts/list-section.tsx'

interface Imported {
  added: number
  changed: number
  unchanged: number
}

export function ImportForm({ actions }: { actions: Actions }) {
  const input = useRef<HTMLInputElement>(null)
  const send = async (file: File | undefined) => {
    if (file === undefined) return
    const body = parsed(await file.text())
    if (body === undefined) return actions.refuse(`${file.name} is not JSON.`)
    await actions.change<Imported>('POST', '/import', body, result => {
      const { added, changed, unchanged } = result
      return `${file.name}: ${added} added, ${changed} changed, ${unchanged} as they were.`
    })
    // The same file may be chosen again.
    if (input.current !== null) input.current.value = ''
  }
  return (
    <label class="button file">
      Import
      <input
        ref={input}
        class="unseen"
        type="file"
        accept=".json,application/json"
        disabled={actions.isBusy}
        onChange={({ currentTarget }) => void send(currentTarget.files?.[0])}
      />
    </label>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
