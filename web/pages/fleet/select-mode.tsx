/** The button by which an administrator begins to select devices, and then what is done with these. */

import { useEffect, useRef } from 'preact/hooks'
import { useIsAdministrator } from '../../client/use-role.ts'
import { lazy } from '../../parts/lazy.tsx'
import type { SelectionBarProps } from './selection-bar.tsx'

const SelectionBar = lazy<SelectionBarProps>('selection', () =>
  import('./selection-bar.tsx').then(module => module.SelectionBar),
)

export interface SelectModeProps extends Omit<SelectionBarProps, 'names'> {
  /** Undefined: nothing is being selected. */
  names: ReadonlySet<string> | undefined
}

export function SelectMode({ names, ...props }: SelectModeProps) {
  const isAdministrator = useIsAdministrator()
  const button = useRef<HTMLButtonElement>(null)
  const wasOn = useRef(false)
  const isOn = names !== undefined
  useEffect(() => {
    if (wasOn.current && !isOn) button.current?.focus()
    wasOn.current = isOn
  }, [isOn])
  if (names !== undefined) return <SelectionBar names={names} {...props} />
  if (!isAdministrator) return null
  return (
    <p class="select-mode">
      <button ref={button} type="button" class="button" onClick={() => props.onSelect(new Set())}>
        Select
      </button>
    </p>
  )
}
