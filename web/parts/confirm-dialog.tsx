/** Asks before what cannot be undone: the button works once the name has been typed. */

import { useEffect, useId, useRef, useState } from 'preact/hooks'

export interface ConfirmDialogProps {
  title: string
  text: string
  /** What has to be typed. */
  name: string
  verb: string
  onConfirm: () => void
  onClose: () => void
}

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
          <button type="submit" class="button danger" disabled={typed !== name}>
            {verb}
          </button>
        </div>
      </form>
    </dialog>
  )
}
