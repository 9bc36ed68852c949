/** The devices that are chosen for a change of many. Another search or filter clears them, because a change only concerns listed devices. */

import { useMemo, useState } from 'preact/hooks'
import { toggled } from './selection.ts'

export interface Selection {
  readonly names: ReadonlySet<string>
  toggle(name: string): void
}

interface Selected {
  names: ReadonlySet<string>
  /** The list's filter at the time of the selection. */
  of: string
}

const none: ReadonlySet<string> = new Set()

/** `of`: the list's filter. Undefined: nothing is being selected. */
export function useSelection(of: string) {
  const [selected, setSelected] = useState<Selected>()
  const selection = useMemo((): Selection | undefined => {
    if (selected === undefined) return undefined
    const names = selected.of === of ? selected.names : none
    const toggle = (name: string) =>
      setSelected(before => ({ names: toggled(before?.of === of ? before.names : none, name), of }))
    return { names, toggle }
  }, [selected, of])
  const select = (names: ReadonlySet<string> | undefined) => setSelected(names && { names, of })
  return { selection, select }
}
