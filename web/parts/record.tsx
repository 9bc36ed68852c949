/** One row of a list: its name, some facts, and its buttons or its menu. Screen readers read the row's name with each button. */

import { type ComponentChildren, Fragment } from 'preact'
import { useId } from 'preact/hooks'
import { t } from '../words/words.ts'

interface RecordProps {
  name: string
  href?: string
  facts: readonly Fact[]
  /** Rendered before the name. */
  mark?: ComponentChildren
  children?: ComponentChildren
}

export function Record({ name, href, facts, mark, children }: RecordProps) {
  return (
    <div class="record">
      <div>
        <h2>
          {mark}
          {href === undefined ? name : <a href={href}>{name}</a>}
        </h2>
        <p class="soft">
          <Facts facts={facts} />
        </p>
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </div>
  )
}

/** Undefined and an empty one are left out. */
type Fact = ComponentChildren

export function Facts({ facts }: { facts: readonly Fact[] }) {
  const given = facts.filter(fact => fact !== undefined && fact !== '')
  return (
    <>
      {given.map((fact, place) => (
        <Fragment key={place}>
          {place === 0 ? null : ' · '}
          {fact}
        </Fragment>
      ))}
    </>
  )
}

interface RowButtonProps {
  name: string
  text: string
  /** Given for a button that unfolds something below the row. */
  isOpen?: boolean
  onClick: () => void
}

export function RowButton({ name, text, isOpen, onClick }: RowButtonProps) {
  const look = isOpen === undefined ? 'button' : 'button quiet'
  return (
    <button type="button" class={look} aria-expanded={isOpen} onClick={onClick}>
      {text}
      <span class="unseen"> {name}</span>
    </button>
  )
}

interface DefinitionsProps {
  class: string
  entries: readonly (readonly [name: string, content: ComponentChildren])[]
}

export function Definitions({ class: look, entries }: DefinitionsProps) {
  return (
    <dl class={look}>
      {entries.map(([name, content]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{content}</dd>
        </div>
      ))}
    </dl>
  )
}

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
      <button type="button" class="button more" popoverTarget={id} aria-label={t('Actions of {name}', { name })}>
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
