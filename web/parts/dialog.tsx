/** A button of a row that requires a confirmation for an irreversible action. */

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { RowButton } from './record.tsx'

export function ConfirmedButton(props: Omit<ConfirmDialogProps, 'onClose'>) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <RowButton name={props.name} text={props.verb} onClick={() => setAsking(true)} />
      {isAsking ? <ConfirmDialog {...props} onClose={() => setAsking(false)} /> : null}
    </>
  )
}

interface ConfirmDialogProps {
  title: string
  text: string
  /** The text to type. */
  name: string
  verb: string
  onConfirm: () => void
  onClose: () => void
}

/** Confirms an irreversible action: the button works once the name has been typed. */
export function ConfirmDialog({ title, text, name, verb, onConfirm, onClose }: ConfirmDialogProps) {
  const [typed, setTyped] = useState('')
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault()
          if (typed !== name) return
          dialog.current?.close()
          onConfirm()
        }}
      >
        <h2 id={titleId}>{title}</h2>
        <p>{text}</p>
        <label class="field">
          Type <strong>{name}</strong> to confirm
          <input value={typed} autocomplete="off" onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
        </label>
        <div class="actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="button strong danger" disabled={typed !== name}>
            {verb}
          </button>
        </div>
      </form>
    </dialog>
  )
}
