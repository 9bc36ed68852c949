/** A button of a row that asks before it does what cannot be undone. */

import { useState } from 'preact/hooks'
import { ConfirmDialog, type ConfirmDialogProps } from './confirm-dialog.tsx'
import { RowButton } from './row-button.tsx'

export function ConfirmedButton(props: Omit<ConfirmDialogProps, 'onClose'>) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <RowButton name={props.name} text={props.verb} onClick={() => setAsking(true)} />
      {isAsking ? <ConfirmDialog {...props} onClose={() => setAsking(false)} /> : null}
    </>
  )
}
