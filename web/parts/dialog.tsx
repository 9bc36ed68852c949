/** Dialogs: any, and one that confirms an irreversible action, with its button in a row. */

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { t, tp } from '../words/words.ts'
import { RowButton } from './record.tsx'

interface DialogProps {
  title: string
  class?: string
  onClose: () => void
  children: (close: () => void) => ComponentChildren
}

/** It is modal while it is rendered. */
export function Dialog({ title, class: name, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class={name} aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  )
}

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
  return (
    <Dialog title={title} onClose={onClose}>
      {close => (
        <form
          onSubmit={event => {
            event.preventDefault()
            if (typed !== name) return
            close()
            onConfirm()
          }}
        >
          <p>{text}</p>
          <label class="field">
            {tp('Type {part} to confirm', { part: <strong>{name}</strong> })}
            <input value={typed} autocomplete="off" onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
          </label>
          <div class="actions">
            <button type="button" class="button" onClick={close}>
              {t('Cancel')}
            </button>
            <button type="submit" class="button strong danger" disabled={typed !== name}>
              {verb}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
