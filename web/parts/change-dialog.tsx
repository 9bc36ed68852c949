/** Confirms a change of many devices: its number, its effects and the fields that it needs. */

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { actionNames, type BulkAction } from './selection-words.ts'

export interface ChangeDialogProps {
  action: BulkAction
  title: string
  consequence: string
  /** `more`: fields of the change beside its devices. */
  onConfirm: (more: object) => void
  onClose: () => void
}

export function ChangeDialog({ action, title, consequence, onConfirm, onClose }: ChangeDialogProps) {
  const [tag, setTag] = useState('')
  const [isNow, setNow] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => dialog.current?.showModal(), [])
  const isOfTag = action === 'tag' || action === 'untag'
  const more = isOfTag ? { tag: tag.trim() } : action === 'rotate' ? { now: isNow } : {}
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault()
          dialog.current?.close()
          onConfirm(more)
        }}
      >
        <h2 id={titleId}>{title}</h2>
        <p>{consequence}</p>
        {isOfTag ? (
          <label class="field">
            Tag
            <input
              value={tag}
              required
              maxLength={97}
              placeholder="site:berlin"
              autocomplete="off"
              onInput={({ currentTarget }) => setTag(currentTarget.value)}
            />
          </label>
        ) : null}
        {action === 'rotate' ? (
          <label class="check">
            <input type="checkbox" checked={isNow} onChange={({ currentTarget }) => setNow(currentTarget.checked)} />
            The old passwords end at once
          </label>
        ) : null}
        <div class="actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="submit"
            class={action === 'suspend' || action === 'rotate' ? 'button strong danger' : 'button strong'}
          >
            {actionNames[action]}
          </button>
        </div>
      </form>
    </dialog>
  )
}
