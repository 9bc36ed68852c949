/** The actions of a row behind one button. Screen readers read the row's name with each. */

import { useId } from 'preact/hooks'

interface RowAction {
  text: string
  onClick: () => void
  /** True for an action that cannot be undone. */
  isDanger?: boolean
}

export function RowMenu({ name, actions }: { name: string; actions: readonly RowAction[] }) {
  const id = useId()
  return (
    <>
      <button type="button" class="button more" popoverTarget={id} aria-label={`Actions of ${name}`}>
        ⋯
      </button>
      <div id={id} class="menu" popover="auto">
        {actions.map(({ text, onClick, isDanger = false }) => (
          <button
            key={text}
            type="button"
            class={isDanger ? 'danger' : undefined}
            popoverTarget={id}
            popoverTargetAction="hide"
            onClick={onClick}
          >
            {text}
            <span class="unseen"> {name}</span>
          </button>
        ))}
      </div>
    </>
  )
}
