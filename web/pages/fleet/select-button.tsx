/** Begins to select devices, for administrators. It gets the focus back when the selection has ended. */

import { useEffect, useRef } from 'preact/hooks'
import { useIsAdministrator } from '../../client/use-role.ts'

/** `isOn`: devices are being selected, so the button is hidden. */
export function SelectButton({ isOn, onBegin }: { isOn: boolean; onBegin: () => void }) {
  const isAdministrator = useIsAdministrator()
  const button = useRef<HTMLButtonElement>(null)
  const wasOn = useRef(false)
  useEffect(() => {
    if (wasOn.current && !isOn) button.current?.focus()
    wasOn.current = isOn
  }, [isOn])
  if (isOn || !isAdministrator) return null
  return (
    <button ref={button} type="button" class="button" onClick={onBegin}>
      Select
    </button>
  )
}
